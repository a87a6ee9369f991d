import type { LoadBalancerRecord } from "../state/state.ts";

/** A load balancer of two nodes; say only what is special. */
export function record(special: Partial<LoadBalancerRecord> = {}): LoadBalancerRecord {
  return {
    key: "k8s-a",
    cluster: { id: "cluster-1" },
    service: { namespace: "default", name: "web", uid: "uid-1" },
    forwarder: "haproxy",
    addresses: [{ address: "192.0.2.1", pool: "lan" }],
    ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
    targets: [
      { name: "b", addresses: ["10.0.0.2", "fd00::2"] },
      { name: "a", addresses: ["10.0.0.1"] },
    ],
    sourceRanges: [],
    hasAffinity: false,
    hidesClients: false,
    sendsProxyHeader: false,
    isProtected: false,
    tags: {},
    specFingerprint: "s",
    nodesFingerprint: "n",
    isDeleting: false,
    revision: 1,
    ...special,
  };
}
