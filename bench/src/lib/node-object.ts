/** Images that a kubelet tells of. */
const IMAGES = 20;

/** A Node as a kubelet that waits for its cloud registers it, as large as they are. */
export function nodeObject(name: string): object {
  const now = new Date().toISOString();
  const resources = { cpu: "8", memory: "32Gi", pods: "110", "ephemeral-storage": "100Gi" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
      },
    },
    spec: { taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }] },
    status: {
      addresses: [{ type: "Hostname", address: name }],
      capacity: resources,
      allocatable: resources,
      conditions: [
        ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
          ...condition(type, "False", now),
          reason: `KubeletHasNo${type}`,
        })),
        readyCondition("True", now),
      ],
      nodeInfo: {
        machineID: name,
        systemUUID: name,
        bootID: name,
        kernelVersion: "6.12.0",
        osImage: "Linux",
        containerRuntimeVersion: "containerd://2.2.0",
        kubeletVersion: "v1.36.0",
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
      images: Array.from({ length: IMAGES }, (_, index) => ({
        names: [`registry.example.com/team/application-${index}@sha256:${String(index).padStart(64, "0")}`],
        sizeBytes: 100_000_000 + index,
      })),
    },
  };
}

/** What a kubelet reports, or what is said of one that does not report any more. */
export function readyCondition(status: "True" | "Unknown", changed: string): object {
  const reason = status === "True" ? "KubeletReady" : "NodeStatusUnknown";
  return { ...condition("Ready", status, changed), reason };
}

function condition(type: string, status: string, changed: string): object {
  const message = "as the kubelet says";
  return { type, status, message, lastHeartbeatTime: new Date().toISOString(), lastTransitionTime: changed };
}
