import type { ServicePort, TargetNode, WantedLoadBalancer } from "@cloudwire/provider-sdk";

/** A wish for a load balancer as the SDK hands it over. */
export function wanted(
  annotations: Readonly<Record<string, string>> = {},
  more: Partial<WantedLoadBalancer> = {},
): WantedLoadBalancer {
  return {
    key: "k8s-1",
    cluster: { id: "cluster-1", name: "blue" },
    service: { namespace: "default", name: "web", uid: "uid-1" },
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [`loadbalancer.openstack.org/${name}`, value]),
    ),
    nodes: [],
    nodesFingerprint: "nodes-1",
    ports: [tcp(80)],
    ipFamilies: ["IPv4"],
    sourceRanges: [],
    externalTrafficPolicy: "Cluster",
    requestedIps: [],
    tags: {},
    specFingerprint: "spec-1",
    ...more,
  };
}

export function tcp(port: number, nodePort = 30_000 + port): ServicePort {
  return { protocol: "TCP", port, nodePort };
}

export function udp(port: number, nodePort = 30_000 + port): ServicePort {
  return { protocol: "UDP", port, nodePort };
}

export function node(number: number): TargetNode {
  const ip = `10.0.0.${number}`;
  const addresses = [{ type: "InternalIP", address: ip } as const];
  return { name: `node-${number}`, providerId: `openstack:///${number}`, ip, addresses, labels: {} };
}
