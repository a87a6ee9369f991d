import { describe, expect, test } from "vitest";
import { toTags } from "./ownership.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";

const made = toTags({ spec: "s1" });
const balancer = {
  id: "balancer",
  name: "k8s-1",
  provisioning_status: "ACTIVE",
  operating_status: "ONLINE",
  vip_address: "10.0.0.9",
  vip_port_id: "port",
  vip_subnet_id: "subnet",
  listeners: [],
  pools: [],
  tags: [...made],
};
const floatingIp = { id: "ip", floating_ip_address: "192.0.2.9", port_id: "port", description: "" };

describe("toLoadBalancer()", () => {
  test.each([
    ["its own address where it has no other", { balancer }, [{ ip: "10.0.0.9" }]],
    ["its floating IP", { balancer, floatingIp }, [{ ip: "192.0.2.9" }]],
    ["no address before all is made", { balancer: { ...balancer, tags: [] } }, undefined],
    [
      "no address while Octavia changes it",
      { balancer: { ...balancer, provisioning_status: "PENDING_UPDATE" } },
      undefined,
    ],
  ])("maps %s", (_title, seen, ingress) => {
    expect(toLoadBalancer(seen).ingress).toEqual(ingress);
  });

  test("keeps the observed fingerprint when the nodes are updated, so that an earlier change stays visible (case S-12)", () => {
    const of = (nodes: string, spec = "s1") =>
      toLoadBalancer({ balancer: { ...balancer, tags: [...toTags({ spec, nodes })] } }).observedFingerprint;
    expect(of("other")).toBe(of("n1"));
    expect(of("n1", "s2")).not.toBe(of("n1"));
  });
});
