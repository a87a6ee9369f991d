import { beforeEach, describe, expect, test } from "vitest";
import { type Pools, allocate, dropTypeDependentFields, reallocate } from "./allocation.ts";
import { applyServiceDefaults } from "./defaults.ts";
import { createPool } from "./pool.ts";
import type { Service, ServiceSpec } from "./service.ts";

const service = (spec: ServiceSpec): Service =>
  applyServiceDefaults({ metadata: { name: "s" }, spec, status: { loadBalancer: {} } });
const port = { port: 80, targetPort: 0 };
const balanced = { type: "LoadBalancer", ports: [port] };

describe("service allocation", () => {
  const taken = new Set<number>();
  let pools: Pools;

  beforeEach(() => {
    taken.clear();
    pools = {
      clusterIps: createPool<string>({
        size: 8,
        firstIndex: 2,
        valueAt: (index) => `10.96.0.${index}`,
        indexOf: (address) => Number(address.split(".")[3]),
        inUse: () => new Set(),
        outside: () => "outside",
        taken: "taken",
      }),
      nodePorts: createPool<number>({
        size: 10,
        firstIndex: 0,
        valueAt: (index) => 30_000 + index,
        indexOf: (value) => (value >= 30_000 && value < 30_010 ? value : undefined),
        inUse: () => taken,
        outside: () => "outside",
        taken: "taken",
      }),
    };
  });

  test.each<[string, ServiceSpec, ServiceSpec]>([
    ["a cluster IP gives an address", { ports: [port] }, { clusterIP: "10.96.0.2", clusterIPs: ["10.96.0.2"] }],
    [
      "a headless service gives none",
      { clusterIP: "None", ports: [port], selector: { a: "b" } },
      { clusterIP: "None", ipFamilies: ["IPv4"] },
    ],
    [
      "a headless service without selector may hold both families",
      { clusterIP: "None" },
      { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" },
    ],
    ["an external name gives nothing", { type: "ExternalName", externalName: "a.b" }, { type: "ExternalName" }],
    [
      "a load balancer gives node ports",
      balanced,
      { ports: [{ port: 80, targetPort: 80, protocol: "TCP", nodePort: 30_000 }] },
    ],
    [
      "a load balancer need not",
      { ...balanced, allocateLoadBalancerNodePorts: false },
      { ports: [{ port: 80, targetPort: 80, protocol: "TCP" }] },
    ],
    [
      "policy Local gives a port for health checks",
      { ...balanced, externalTrafficPolicy: "Local" },
      { healthCheckNodePort: 30_001 },
    ],
  ])("allocate() of %s", (_, spec, expected) => {
    expect(allocate(service(spec), pools).spec).toMatchObject(expected);
  });

  test("allocate() gives two protocols of one port one node port", () => {
    const spec = {
      type: "NodePort",
      ports: [
        { ...port, name: "t" },
        { ...port, name: "u", protocol: "UDP" },
      ],
    };
    expect(allocate(service(spec), pools).spec.ports?.map(({ nodePort }) => nodePort)).toEqual([30_000, 30_000]);
  });

  test.each([
    [80, "outside"],
    [30_005, "taken"],
  ])("allocate() refuses node port %i", (nodePort, detail) => {
    taken.add(30_005);
    const spec = { type: "NodePort", ports: [{ ...port, nodePort }] };
    expect(() => allocate(service(spec), pools)).toThrow(
      expect.objectContaining({ code: 422, message: expect.stringContaining(`${nodePort}: ${detail}`) }),
    );
  });

  test("reallocate() keeps what a client leaves out", () => {
    const stored = allocate(service({ ...balanced, externalTrafficPolicy: "Local" }), pools);
    const again = reallocate(service({ ...balanced, externalTrafficPolicy: "Local" }), stored, pools);
    expect(again.spec).toEqual(stored.spec);
  });

  test("reallocate() gives an address to what was an external name", () => {
    const stored = allocate(service({ type: "ExternalName", externalName: "a.b" }), pools);
    expect(reallocate(service({ ports: [port] }), stored, pools).spec.clusterIP).toBe("10.96.0.2");
  });

  test("dropTypeDependentFields() leaves a cluster IP service without the traces of a load balancer", () => {
    const stored = allocate(
      service({ ...balanced, externalTrafficPolicy: "Local", loadBalancerClass: "a.b/c" }),
      pools,
    );
    const changed = { ...stored, spec: { ...stored.spec, type: "ClusterIP" } };
    const { spec } = dropTypeDependentFields(changed, stored);
    expect([
      spec.ports?.[0]?.nodePort,
      spec.healthCheckNodePort,
      spec.externalTrafficPolicy,
      spec.loadBalancerClass,
      spec.allocateLoadBalancerNodePorts,
    ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(spec.clusterIP).toBe(stored.spec.clusterIP);
  });
});

describe("createPool()", () => {
  test("hands out each value once before it comes back to one that was freed", () => {
    const used = new Set<number>();
    const pool = createPool<number>({
      size: 3,
      firstIndex: 1,
      valueAt: (index) => index,
      indexOf: (value) => value,
      inUse: () => used,
      outside: () => "outside",
      taken: "taken",
    });
    expect([pool.next(), pool.next(), pool.next(), pool.next()]).toEqual([1, 2, 0, 1]);
    for (const value of [0, 1, 2]) used.add(value);
    expect(() => pool.next()).toThrow("range is full");
  });
});
