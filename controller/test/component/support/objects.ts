import type { JsonObject } from "@cloudwire/devcluster";

/** Of a kubelet with --node-ip. */
const OWN_ADDRESS = { type: "InternalIP", address: "10.0.0.250" } as const;

const UNINITIALIZED = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
} as const;

interface NodeParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly JsonObject[];
  readonly providerID?: string;
  readonly addresses?: readonly JsonObject[];
}

/** A Node as a kubelet with --cloud-provider=external registers it. */
export function registeredNode(name: string, parts: NodeParts = {}): JsonObject {
  return nodeObject(name, {
    taints: [UNINITIALIZED],
    addresses: [OWN_ADDRESS, { type: "Hostname", address: name }],
    ...parts,
  });
}

/** A Node that has its cloud's facts. */
export function initializedNode(name: string, parts: NodeParts = {}): JsonObject {
  return nodeObject(name, { providerID: `acme://${name}`, ...parts });
}

function nodeObject(name: string, parts: NodeParts): JsonObject {
  const { labels = {}, annotations = {}, taints = [], providerID, addresses = [OWN_ADDRESS] } = parts;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...labels }, annotations: { ...annotations } },
    spec: { taints: [...taints], ...(providerID === undefined ? {} : { providerID }) },
    status: { addresses: [...addresses] },
  };
}

interface ServiceParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

/** A Service of type LoadBalancer, as a user makes it. */
export function loadBalancerService(name: string, { metadata = {}, spec = {}, status }: ServiceParts = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default", ...metadata },
    spec: {
      type: "LoadBalancer",
      selector: { app: name },
      ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }],
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** What differs from run to run made the same: UIDs, versions, times. */
export function masked(write: string): string {
  return write
    .replaceAll(/"uid":"[^"]+"/g, '"uid":"U"')
    .replaceAll(/"resourceVersion":"[^"]+"/g, '"resourceVersion":"V"')
    .replaceAll(/"lastTransitionTime":"[^"]+"/g, '"lastTransitionTime":"T"');
}
