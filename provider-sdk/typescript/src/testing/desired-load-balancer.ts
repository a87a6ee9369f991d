import type { Protocol } from "../definition/common.ts";
import type { ServicePort, DesiredLoadBalancer } from "../definition/requests.ts";

/**
 * A desired load balancer as handlers get it, for a provider's unit tests: TCP port 80 by IPv4 for Service `default/web` of
 * cluster `blue` (`cluster-1`), without nodes. `special` is what the test is about.
 */
export const desiredLoadBalancer = (special: Partial<DesiredLoadBalancer> = {}): DesiredLoadBalancer => ({
  key: "k8s-1",
  cluster: { id: "cluster-1", name: "blue" },
  service: { namespace: "default", name: "web", uid: "uid-1" },
  annotations: {},
  nodes: [],
  nodesFingerprint: "nodes-1",
  ports: [servicePort("TCP", 80)],
  ipFamilies: ["IPv4"],
  sourceRanges: [],
  externalTrafficPolicy: "Cluster",
  requestedIps: [],
  tags: {},
  specFingerprint: "spec-1",
  ...special,
});

/** A port of a desired load balancer. Default of its node port: 30000 plus the port. */
export const servicePort = (protocol: Protocol, port: number, nodePort = 30_000 + port): ServicePort => ({
  protocol,
  port,
  nodePort,
});
