import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "@cloudwire/control-plane";
import { startDevCluster } from "@cloudwire/devcluster";
import { type Endpoint, send } from "./client.ts";
import { textAt } from "./value.ts";

/** One of the servers. */
export interface ServerUnderTest extends Endpoint {
  /** Makes the server forget what happened so far, for watches and lists of earlier revisions; returns when it has. */
  readonly forget: () => Promise<void>;
}

/** The two servers that have to answer alike. */
export interface Pair {
  readonly dev: ServerUnderTest;
  readonly real: ServerUnderTest;
  readonly stop: () => Promise<void>;
}

/** Users with a token, on both servers. */
export const users = {
  admin: { token: "admin-token", name: "token-admin", uid: "admin-1", groups: ["system:masters"] },
  reader: { token: "reader-token", name: "reader", uid: "reader-1", groups: ["readers"] },
} as const;

/** What the reader may do: look at nodes, and nothing else. */
const readerRule = { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] } as const;

export interface PairOptions {
  /** Whether scenarios use forget(), for which the real etcd has to be compacted all the time. */
  readonly forgets?: boolean;
  /** Controllers of a real kube-controller-manager, of which devcluster has stand-ins. */
  readonly controllers?: readonly string[];
}

/** Starts both servers with the same users. */
export async function startPair({ controllers, forgets = false }: PairOptions = {}): Promise<Pair> {
  const directory = await mkdtemp(path.join(tmpdir(), "cloudwire-differential-"));
  const tokens = path.join(directory, "tokens.csv");
  const lines = Object.values(users).map(
    ({ token, name, uid, groups }) => `${token},${name},${uid},"${groups.join(",")}"`,
  );
  await writeFile(tokens, `${lines.join("\n")}\n`, { mode: 0o600 });
  const options: ControlPlaneOptions = {
    apiServerArgs: [`--token-auth-file=${tokens}`, ...(forgets ? ["--etcd-compaction-interval=1s"] : [])],
    ...(controllers === undefined ? {} : { controllerManager: { controllers } }),
  };
  const controlPlane = await startControlPlane(options);
  const dev = await startDevCluster({
    controllers: controllers !== undefined,
    users: [users.admin, { ...users.reader, rules: [readerRule] }],
  });
  const { client } = controlPlane.adminKubeconfig;
  const endpoint: Endpoint = {
    url: controlPlane.server,
    tls: { ca: controlPlane.caPem, cert: client.certificate, key: client.key },
  };
  await permitReader(endpoint);
  return {
    real: { ...endpoint, forget: () => forget(controlPlane, endpoint) },
    dev: { url: dev.url, forget: async () => dev.compact() },
    stop: async () => {
      await dev.close();
      await controlPlane.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** A restart empties the watch cache; compaction is waited for, until a list of the revision before has expired. */
async function forget(controlPlane: ControlPlane, endpoint: Endpoint): Promise<void> {
  const path = "/api/v1/namespaces";
  const { body } = await send(endpoint, "GET", path);
  const revision = textAt(body, "metadata", "resourceVersion");
  await controlPlane.restartApiServer();
  for (let attempt = 0; attempt < 100; attempt += 1) {
    // Each write makes a revision that compaction can move to.
    await send(endpoint, "PATCH", `${path}/default`, {
      contentType: "application/merge-patch+json",
      body: { metadata: { annotations: { attempt: `${attempt}` } } },
    });
    const { status } = await send(endpoint, "GET", `${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`);
    if (status === 410) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
  throw new Error(`revision ${revision} was not compacted away`);
}

/** Gives the real server the rights that devcluster gets as an option. */
async function permitReader(real: Endpoint): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const name = "differential-reader";
  const role = { metadata: { name }, rules: [readerRule] };
  const binding = {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: users.reader.name }],
  };
  for (const [resource, body] of [
    ["clusterroles", role],
    ["clusterrolebindings", binding],
  ] as const) {
    const { status } = await send(real, "POST", `${rbac}/${resource}`, { body });
    if (status !== 201) throw new Error(`cannot give ${users.reader.name} its rights: ${resource} answered ${status}`);
  }
}
