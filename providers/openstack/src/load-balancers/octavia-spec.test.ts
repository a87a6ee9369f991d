import { describe, expect, test } from "vitest";
import { node, tcp, udp, wanted } from "../test/desired.ts";
import { membersOf, portsIn, toOctaviaSpec } from "./octavia-spec.ts";

const settings = { vipSubnetId: "vip", memberSubnetId: "nodes", floatingNetworkId: "outside" };
const octaviaSpec = (annotations: Parameters<typeof wanted>[0], more: Parameters<typeof wanted>[1] = {}) =>
  toOctaviaSpec(wanted(annotations, more), settings);
const refusal = (annotations: Parameters<typeof wanted>[0]) => {
  try {
    return octaviaSpec(annotations);
  } catch (error) {
    return error;
  }
};

describe("toOctaviaSpec()", () => {
  test("says all of a plain Service", () => {
    expect(octaviaSpec({})).toEqual({
      name: "k8s-1",
      listeners: [
        {
          name: "k8s-1-tcp-80",
          protocol: "TCP",
          port: 80,
          options: {
            connection_limit: -1,
            timeout_client_data: 50_000,
            timeout_member_connect: 5_000,
            timeout_member_data: 50_000,
            timeout_tcp_inspect: 0,
          },
          allowedCidrs: [],
          forwardedFor: false,
          pool: {
            name: "k8s-1-tcp-80-tcp-to-30080",
            protocol: "TCP",
            nodePort: 30_080,
            monitorPort: undefined,
            affinity: undefined,
            monitor: { type: "TCP", delaySeconds: 5, timeoutSeconds: 3, maxRetries: 1, maxRetriesDown: 3 },
          },
        },
      ],
      tags: [
        "cloudwire.dev/cluster-id=cluster-1",
        "cloudwire.dev/cluster-name=blue",
        "cloudwire.dev/service-uid=uid-1",
        "cloudwire.dev/service=default/web",
      ],
      creation: { description: "Service default/web", vip_subnet_id: "vip" },
      isOfSettings: true,
      floating: { networkId: "outside", subnetId: undefined, address: undefined },
      memberSubnetId: "nodes",
    });
  });

  test.each([
    ["a subnet", { "subnet-id": "s" }, { vip_subnet_id: "s" }],
    ["a network", { "network-id": "n" }, { vip_network_id: "n" }],
    ["a port before all", { "port-id": "p", "subnet-id": "s", "network-id": "n" }, { vip_port_id: "p" }],
    [
      "a flavor",
      { "flavor-id": "f", "availability-zone": "z" },
      { vip_subnet_id: "vip", flavor_id: "f", availability_zone: "z" },
    ],
  ])("makes it with %s", (_what, annotations, expected) => {
    expect(octaviaSpec(annotations).creation).toEqual({ description: "Service default/web", ...expected });
  });

  test.each([
    ["true", "PROXY"],
    ["v1", "PROXY"],
    ["v2", "PROXYV2"],
    ["false", "TCP"],
  ])("takes proxy-protocol %s for a pool of %s", (value, protocol) => {
    expect(octaviaSpec({ "proxy-protocol": value }).listeners[0]?.pool).toMatchObject({
      protocol,
      name: `k8s-1-tcp-80-${protocol.toLowerCase()}-to-30080`,
    });
  });

  test("speaks HTTP for a header", () => {
    expect(octaviaSpec({ "x-forwarded-for": "true" }).listeners[0]).toMatchObject({
      protocol: "HTTP",
      forwardedFor: true,
      pool: { protocol: "HTTP" },
    });
  });

  test("keeps UDP without times, and asks for its health by datagrams", () => {
    expect(octaviaSpec({}, { ports: [udp(53)] }).listeners[0]).toMatchObject({
      protocol: "UDP",
      options: { connection_limit: -1 },
      pool: { protocol: "UDP", monitor: { type: "UDP-CONNECT" } },
    });
  });

  test("uses the health check of Kubernetes", () => {
    const { listeners } = octaviaSpec({}, { healthCheck: { port: 32_000, path: "/healthz" } });
    expect(listeners[0]?.pool).toMatchObject({
      name: "k8s-1-tcp-80-tcp-to-30080-health-32000",
      monitorPort: 32_000,
      monitor: { type: "HTTP", path: "/healthz" },
    });
  });

  test("creates no monitor if it is disabled", () => {
    const { listeners } = octaviaSpec({ "enable-health-monitor": "false" }, { healthCheck: { port: 32_000 } });
    expect(listeners[0]?.pool).toMatchObject({ name: "k8s-1-tcp-80-tcp-to-30080", monitor: undefined });
  });

  test("has a time of affinity for UDP alone", () => {
    const pools = octaviaSpec({}, { ports: [tcp(80), udp(53)], sessionAffinity: { timeoutMs: 1_500 } }).listeners;
    expect(pools.map(({ pool }) => pool.affinity)).toEqual([{ timeoutSeconds: undefined }, { timeoutSeconds: 2 }]);
  });

  test("has no address from outside where it is internal, and its own as requested", () => {
    const annotations = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };
    const { floating, creation } = octaviaSpec({}, { annotations, requestedIps: ["10.0.0.9"] });
    expect([floating, creation["vip_address"]]).toEqual([undefined, "10.0.0.9"]);
    expect(octaviaSpec({}, { requestedIps: ["203.0.113.9"] }).floating).toMatchObject({ address: "203.0.113.9" });
  });

  test.each([
    [{ "connection-limit": "many" }, { reason: "ANNOTATION_INVALID" }],
    [{ "health-monitor-timeout": "9" }, { message: expect.stringContaining("less than the delay, 5 s") }],
    [{ "proxy-protocol": "v2", "x-forwarded-for": "true" }, { reason: "ANNOTATION_INVALID" }],
    [{ "load-balancer-id": "x" }, { reason: "FEATURE_UNSUPPORTED" }],
    [{ class: "x" }, { reason: "FEATURE_UNSUPPORTED" }],
    [{ "default-tls-container-ref": "x" }, { reason: "FEATURE_UNSUPPORTED" }],
  ])("refuses %j", (annotations, expected) => {
    expect(refusal(annotations)).toMatchObject(expected);
  });
});

describe("portsIn()", () => {
  test.each([
    ["k8s-1-tcp-80-tcp-to-30080", { nodePort: 30_080, monitorPort: undefined }],
    ["k8s-1-tcp-80-proxy-to-30080-health-32000", { nodePort: 30_080, monitorPort: 32_000 }],
    ["another owner's", undefined],
  ])("reads %s", (name, expected) => {
    expect(portsIn(name)).toEqual(expected);
  });
});

test("membersOf() leaves out nodes without an address", () => {
  const nodes = [node(1), { ...node(2), ip: undefined }];
  expect(membersOf(nodes, { nodePort: 30_080 }, "nodes")).toEqual([
    { name: "node-1", address: "10.0.0.1", port: 30_080, subnetId: "nodes", monitorPort: undefined },
  ]);
});
