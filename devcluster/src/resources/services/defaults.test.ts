import { expect, test } from "vitest";
import { applyServiceDefaults } from "./defaults.ts";
import type { ServiceSpec } from "./service.ts";

const common = { type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" };
const balanced = {
  ...common,
  type: "LoadBalancer",
  externalTrafficPolicy: "Cluster",
  allocateLoadBalancerNodePorts: true,
};

test.each<[string, ServiceSpec, ServiceSpec]>([
  ["nothing", {}, common],
  [
    "ports",
    { ports: [{ port: 80, targetPort: 0 }] },
    { ...common, ports: [{ port: 80, targetPort: 80, protocol: "TCP" }] },
  ],
  ["a load balancer", { type: "LoadBalancer" }, balanced],
  ["a node port", { type: "NodePort" }, { ...common, type: "NodePort", externalTrafficPolicy: "Cluster" }],
  ["an external name", { type: "ExternalName" }, { type: "ExternalName", sessionAffinity: "None" }],
  [
    "external IPs",
    { externalIPs: ["192.0.2.1"] },
    { ...common, externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster" },
  ],
  [
    "stickiness",
    { sessionAffinity: "ClientIP" },
    { ...common, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } },
  ],
])("applyServiceDefaults() completes %s", (_, spec, expected) => {
  expect(applyServiceDefaults({ metadata: {}, spec, status: { loadBalancer: {} } }).spec).toEqual(expected);
});

test("applyServiceDefaults() gives addresses of load balancers the mode VIP, host names none", () => {
  const ingress = [{ ip: "192.0.2.1" }, { hostname: "a.b" }, { ip: "192.0.2.2", ipMode: "Proxy" }];
  const { status } = applyServiceDefaults({
    metadata: {},
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress } },
  });
  expect(status.loadBalancer.ingress).toEqual([
    { ip: "192.0.2.1", ipMode: "VIP" },
    { hostname: "a.b" },
    { ip: "192.0.2.2", ipMode: "Proxy" },
  ]);
});
