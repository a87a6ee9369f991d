import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import type { LoadBalancer } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import { Harness } from "../support/harness.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const PROTECTION = "service.cloudwire.dev/deletion-protection";

let controlPlane: ControlPlane;
let harness: Harness;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  harness = await Harness.start(controlPlane);
  await harness.startSidecar();
  harness.startController();
  await harness.createMachines([{ name: "only", zone: "north-a" }]);
  await harness.registerNode("only");
  await harness.initialized("only");
}, 60 * 60_000);
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await controlPlane.stop();
});

async function create(name: string, spec: object, annotations: object = {}): Promise<Json> {
  return harness.kube.create(SERVICES, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, annotations },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 8191, protocol: "TCP" }], ...spec },
  });
}

/** What the cloud has for the Service; undefined: nothing. */
async function balancerOf(name: string): Promise<LoadBalancer | undefined> {
  return (await harness.loadBalancers()).find(({ tags }) =>
    Object.entries(tags).some(([key, value]) => key.endsWith("service-name") && value === name),
  );
}

async function conditionText(name: string): Promise<string | undefined> {
  const conditions = listOf(at(await harness.kube.get(`${SERVICES}/${name}`), "status", "conditions"));
  const ready = conditions.find(({ type }) => type === "cloudwire.dev/LoadBalancerReady");
  return ready && `${String(ready["status"])} ${String(ready["reason"])}: ${String(ready["message"])}`;
}

const says = (name: string, pattern: RegExp): Promise<string> =>
  eventually(
    `${name} to say ${pattern}`,
    40_000,
    async () => {
      const text = await conditionText(name);
      return text !== undefined && pattern.test(text) ? text : undefined;
    },
    () => harness.outputs().slice(-4000),
  );

interface Row {
  readonly name: string;
  readonly spec: object;
  readonly annotations?: object;
  /** What the cloud is to have of it; the Service says what only the server knows. */
  readonly want: (service: Json) => object;
}

const rows: readonly Row[] = [
  {
    name: "ranges",
    spec: { loadBalancerSourceRanges: ["192.0.2.0/24", "10.0.0.0/8"] },
    want: () => ({ sourceRanges: ["10.0.0.0/8", "192.0.2.0/24"] }),
  },
  {
    name: "ranges-by-annotation",
    spec: {},
    annotations: { "service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8, 192.0.2.0/24" },
    want: () => ({ sourceRanges: ["10.0.0.0/8", "192.0.2.0/24"] }),
  },
  { name: "affinity", spec: { sessionAffinity: "ClientIP" }, want: () => ({ sessionAffinity: "clientIp" }) },
  {
    name: "local",
    spec: { externalTrafficPolicy: "Local" },
    want: (service) => ({
      healthCheck: { protocol: "http", port: at(service, "spec", "healthCheckNodePort"), path: "/healthz" },
    }),
  },
  {
    name: "class",
    spec: { loadBalancerClass: "simulated.cloudwire.dev/internal" },
    want: () => ({ class: "internal" }),
  },
  {
    name: "vendor",
    spec: {},
    annotations: { "simulated.cloudwire.dev/idle-timeout-seconds": "120", "example.com/other": "x" },
    want: () => ({ idleTimeoutMs: 120_000 }),
  },
  {
    name: "ports",
    spec: {
      ports: [
        { name: "b", port: 8193, protocol: "TCP" },
        { name: "a", port: 8192, protocol: "TCP" },
      ],
    },
    want: (service) => ({
      listeners: [
        expect.objectContaining({ port: 8192, targetPort: at(service, "spec", "ports", 1, "nodePort") }),
        expect.objectContaining({ port: 8193, targetPort: at(service, "spec", "ports", 0, "nodePort") }),
      ],
    }),
  },
  { name: "protected", spec: {}, annotations: { [PROTECTION]: "true" }, want: () => ({ protected: true }) },
  {
    name: "both-families",
    spec: { ipFamilyPolicy: "PreferDualStack" },
    want: () => ({ sessionAffinity: "none", sourceRanges: [], protected: false }),
  },
];

describe("what a Service asks for reaches the cloud", () => {
  test.each(rows)("$name", async ({ name, spec, annotations = {}, want }) => {
    const created = await create(name, spec, annotations);
    await says(name, /^True Ready/);
    const service = await harness.kube.get(`${SERVICES}/${name}`);
    const balancer = await balancerOf(name);
    expect(balancer).toMatchObject({ state: "active", targetCount: 1, ...want(created) });
    expect(listOf(at(service, "status", "loadBalancer", "ingress"))).toMatchObject([
      { ip: balancer?.address, ipMode: "Proxy" },
    ]);
  });

  test("a fixed address, and one that belongs to another process", async () => {
    await create("first", {});
    await says("first", /^True Ready/);
    const taken = (await balancerOf("first"))?.address ?? "";
    const free = taken.replace(/\d+$/, (last) => String((Number(last) + 100) % 250));
    await create("fixed", { loadBalancerIP: free });
    await says("fixed", /^True Ready/);
    expect((await balancerOf("fixed"))?.address).toBe(free);
    await create("late", { loadBalancerIP: taken });
    await says("late", /^False Conflict: .*ADDRESS_IN_USE/);
    expect(await balancerOf("late")).toBeUndefined();
  });

  test.each([
    { name: "udp", ports: [{ port: 8194, protocol: "UDP" }], field: "spec.ports[0].protocol" },
    {
      name: "mixed",
      ports: [
        { name: "t", port: 8195, protocol: "TCP" },
        { name: "u", port: 8195, protocol: "UDP" },
      ],
      field: "spec.ports[1].protocol",
    },
    { name: "no-node-ports", ports: [{ port: 8196 }], allocate: false, field: "spec.ports[0].nodePort" },
  ])("$name is refused, with the field, and nothing is made", async ({ name, ports, allocate = true, field }) => {
    await create(name, { ports, allocateLoadBalancerNodePorts: allocate });
    expect(await says(name, /^False Rejected/)).toContain(field);
    expect(await balancerOf(name)).toBeUndefined();
  });
});

describe("what others do to a Service's load balancer", () => {
  test("puts the address back that someone took out of the status, without a call to the cloud", async () => {
    await create("emptied", {});
    await says("emptied", /^True Ready/);
    const before = at(await harness.kube.get(`${SERVICES}/emptied`), "status", "loadBalancer");
    await harness.admin.resetCalls();
    const nothing = JSON.stringify({ status: { loadBalancer: null, conditions: null } });
    const patch = ["patch", "service", "emptied", "--subresource=status", "--type=merge", "-p", nothing];
    await harness.controlPlane.kubectl(patch);
    await says("emptied", /^True Ready/);
    expect(at(await harness.kube.get(`${SERVICES}/emptied`), "status", "loadBalancer")).toEqual(before);
    expect(await harness.admin.callsOf("loadBalancers.create")).toBe(0);
  });

  test("keeps a protected one although its Service is deleted, until that is lifted at the Service", async () => {
    await create("guarded", {}, { [PROTECTION]: "true" });
    await says("guarded", /^True Ready/);
    await harness.kube.delete(`${SERVICES}/guarded`);
    await says("guarded", /^False DeletionProtected/);
    expect(await balancerOf("guarded")).toMatchObject({ state: "active", protected: true });
    await harness.kube.patch(`${SERVICES}/guarded`, { metadata: { annotations: { [PROTECTION]: "false" } } });
    await eventually("the Service to be gone", 40_000, async () =>
      (await harness.kube.find(`${SERVICES}/guarded`)) === undefined ? true : undefined,
    );
    expect(await balancerOf("guarded")).toBeUndefined();
  });
});
