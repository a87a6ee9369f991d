import { type Deps, type WriteOptions, keyOf } from "./api/context.ts";
import { createObject } from "./api/create.ts";
import type { JsonObject } from "./json.ts";
import { withMetadata } from "./object.ts";
import { type Resource, tableOf } from "./resources/resource.ts";

export interface BootstrapInput {
  readonly resources: readonly Resource[];
  /** UID of the namespace kube-system, which names the cluster. */
  readonly clusterUid: string;
  /** Address of the Service default/kubernetes. */
  readonly apiClusterIp: string;
  /** Port of the API server itself. */
  readonly port: () => number;
}

const namespaceNames = ["kube-system", "kube-public", "kube-node-lease", "default"];
const options: WriteOptions = {
  user: { name: "system:apiserver", groups: ["system:masters"] },
  dryRun: false,
  fieldValidation: "Strict",
  warn: () => undefined,
};

/** Creates the namespaces of a fresh cluster. */
export function createNamespaces(deps: Deps, { resources, clusterUid }: BootstrapInput): void {
  const namespaces = find(resources, "namespaces");
  for (const name of namespaceNames) {
    const created = createObject(deps, namespaces, "", { metadata: { name } }, options);
    if (name !== "kube-system") continue;
    deps.store.put(tableOf(namespaces), name, withMetadata(created, { uid: clusterUid }));
  }
}

/** Creates the Service default/kubernetes, once the port is known. */
export function createApiService(deps: Deps, { resources, apiClusterIp, port }: BootstrapInput): void {
  const services = find(resources, "services");
  const service: JsonObject = {
    metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      clusterIP: apiClusterIp,
      ports: [{ name: "https", port: 443, targetPort: port() }],
    },
  };
  if (deps.store.get(tableOf(services), keyOf({ namespace: "default", name: "kubernetes" })) === undefined) {
    createObject(deps, services, "default", service, options);
  }
}

function find(resources: readonly Resource[], name: string): Resource {
  const resource = resources.find((candidate) => candidate.name === name);
  if (resource === undefined) throw new Error(`the table of resources has no ${name}`);
  return resource;
}
