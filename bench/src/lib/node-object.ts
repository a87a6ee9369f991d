import { createHash } from "node:crypto";

/** Images that a kubelet reports: --node-status-max-images. */
const IMAGES = 50;
/** Different ones in a cluster. */
const CLUSTER_IMAGES = 400;

const UNINITIALIZED = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
} as const;

/** What a cloud controller puts on a Node. */
export interface NodeMachine {
  readonly id: string;
  readonly zone: string;
  readonly region: string;
  readonly type: string;
  readonly hostname: string;
  readonly internalAddresses: readonly string[];
}

/**
 * A Node as a kubelet that waits for its cloud registers it, as large as those of real clusters are once they run: some 10 kB of JSON,
 * most of it images. The same name gives the same Node, but for the time.
 */
export function nodeObject(name: string): object {
  return { ...commonParts(name, {}), spec: { taints: [UNINITIALIZED] } };
}

/** The same, as a cloud controller has left it. */
export function readyNodeObject(name: string, machine: NodeMachine): object {
  const { id, zone, region, type, hostname, internalAddresses } = machine;
  const labels = {
    "node.kubernetes.io/instance-type": type,
    "beta.kubernetes.io/instance-type": type,
    "topology.kubernetes.io/zone": zone,
    "failure-domain.beta.kubernetes.io/zone": zone,
    "topology.kubernetes.io/region": region,
    "failure-domain.beta.kubernetes.io/region": region,
  };
  const addresses = [
    ...internalAddresses.map((address) => ({ type: "InternalIP", address })),
    { type: "InternalDNS", address: hostname },
    { type: "Hostname", address: hostname },
  ];
  const { status, ...rest } = commonParts(name, labels);
  return { ...rest, spec: { providerID: `sim://${zone}/${id}` }, status: { ...status, addresses } };
}

/** The condition of a kubelet that reports, or has stopped reporting. */
export function readyCondition(status: "True" | "Unknown", changed: string): object {
  return status === "True" ? condition("Ready", status, "KubeletReady", changed) : silentCondition("Ready", changed);
}

/** What kube-controller-manager's node lifecycle makes of all conditions when a kubelet does not report any more. */
export function silentConditions(changed: string): readonly object[] {
  return ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => silentCondition(type, changed));
}

function commonParts(name: string, labels: Readonly<Record<string, string>>) {
  const digest = createHash("sha256").update(name).digest("hex");
  const number = Number.parseInt(digest.slice(0, 8), 16);
  const now = new Date().toISOString();
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...kubeletLabels(name, number), ...labels }, annotations: annotations(name, digest) },
    status: {
      addresses: [{ type: "Hostname", address: name }],
      ...resources,
      conditions: [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", now),
        readyCondition("True", now),
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: nodeInfo(digest),
      images: images(number),
    },
  };
}

/** Ten; a cloud controller adds six. */
function kubeletLabels(name: string, number: number): Readonly<Record<string, string>> {
  return {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
    "node-group.example.com/name": `pool-${number % 12}`,
    "example.com/capacity-type": "on-demand",
    "example.com/image-id": `image-${number % 4}`,
    "example.com/team": `team-${number % 20}`,
    "example.com/generation": `g${number % 3}`,
  };
}

function annotations(name: string, digest: string): Readonly<Record<string, string>> {
  return {
    "node.alpha.kubernetes.io/ttl": "0",
    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    "csi.volume.kubernetes.io/nodeid": JSON.stringify({ "csi.example.com": `machine-${digest.slice(0, 17)}` }),
    "cluster.example.com/machine": `machine-${name}`,
    "cluster.example.com/hash": digest,
    "cluster.example.com/owner": `pool-of-${name}`,
  };
}

const capacity = {
  cpu: "8",
  memory: "32408508Ki",
  pods: "110",
  "ephemeral-storage": "104845292Ki",
  "hugepages-1Gi": "0",
  "hugepages-2Mi": "0",
} as const;

const resources = {
  capacity,
  allocatable: { ...capacity, cpu: "7910m", memory: "31391676Ki", "ephemeral-storage": "95551679124" },
} as const;

function nodeInfo(digest: string): object {
  return {
    machineID: digest.slice(0, 32),
    systemUUID: uuid(digest.slice(8)),
    bootID: uuid(digest.slice(16)),
    kernelVersion: "6.12.40-64.114.example.x86_64",
    osImage: "Example Linux 2026",
    containerRuntimeVersion: "containerd://2.2.0",
    kubeletVersion: "v1.36.3",
    kubeProxyVersion: "",
    operatingSystem: "linux",
    architecture: "amd64",
  };
}

function images(number: number): readonly object[] {
  return Array.from({ length: IMAGES }, (_, index) => {
    const image = (number + index * 7) % CLUSTER_IMAGES;
    const digest = createHash("sha256").update(`image-${image}`).digest("hex");
    const name = `registry.example.com/t/app-${String(image).padStart(3, "0")}`;
    return { names: [`${name}@sha256:${digest}`], sizeBytes: 10_000_000 + image * 7919 };
  });
}

function uuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

function silentCondition(type: string, changed: string): object {
  return condition(type, "Unknown", "NodeStatusUnknown", changed, "Kubelet stopped posting node status.");
}

function condition(type: string, status: string, reason: string, changed: string, message = "as the kubelet says") {
  return { type, status, reason, message, lastHeartbeatTime: new Date().toISOString(), lastTransitionTime: changed };
}
