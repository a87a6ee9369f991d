import { describe, expect, test } from "vitest";
import { node, tcp, udp, wanted } from "../test/desired.ts";
import type { Listener, Member, Monitor, Parts, Pool } from "./octavia.ts";
import { planMembers, planParts, type Step, withPool } from "./plan.ts";
import { membersOf, toOctaviaSpec } from "./octavia-spec.ts";

const settings = { vipSubnetId: "vip" };

const stepsFor = (options: Parameters<typeof wanted>, present: Parts): readonly Step[] => {
  const { listeners } = toOctaviaSpec(wanted(...options), settings);
  const items = listeners.map((listener) => ({
    listener,
    members: membersOf(options[1]?.nodes ?? [node(1)], listener.pool, undefined),
    isForNodes: options[1]?.nodes?.length !== 0,
  }));
  return planParts("lb", items, present);
};

const listener: Listener = {
  id: "l1",
  name: "k8s-1-tcp-80",
  protocol: "TCP",
  protocol_port: 80,
  default_pool_id: "p1",
  allowed_cidrs: null,
  insert_headers: {},
  loadbalancers: [{ id: "lb" }],
  ...toOctaviaSpec(wanted(), settings).listeners[0]?.options,
};
const pool: Pool = {
  id: "p1",
  name: "k8s-1-tcp-80-tcp-to-30080",
  protocol: "TCP",
  session_persistence: null,
  healthmonitor_id: "m1",
  loadbalancers: [{ id: "lb" }],
  members: [{ id: "a" }],
};
const member: Member = {
  id: "a",
  name: "node-1",
  address: "10.0.0.1",
  protocol_port: 30_080,
  subnet_id: null,
  monitor_port: null,
};
const monitor: Monitor = {
  id: "m1",
  type: "TCP",
  delay: 5,
  timeout: 3,
  max_retries: 1,
  max_retries_down: 3,
  pools: [{ id: "p1" }],
};

const none: Parts = { listeners: [], pools: [], members: new Map(), monitors: new Map() };
const made: Parts = {
  listeners: [listener],
  pools: [pool],
  members: new Map([["p1", [member]]]),
  monitors: new Map([["p1", monitor]]),
};

const changesOf = (steps: readonly Step[]) => steps.map(({ change }) => `${change.action} ${change.resourceType}`);

describe("planParts()", () => {
  test("makes pools, fills them, and sends traffic to them last", () => {
    expect(changesOf(stepsFor([], none))).toEqual([
      "create pool",
      "update pool members",
      "create health monitor",
      "create listener",
    ]);
  });

  test("finds nothing to do", () => {
    expect(stepsFor([], made)).toEqual([]);
  });

  test.each([
    ["source ranges", [{}, { sourceRanges: ["10.0.0.0/8"] }], ["update listener"]],
    ["a time", [{ "timeout-client-data": "1" }], ["update listener"]],
    ["nodes", [{}, { nodes: [node(1), node(2)] }], ["update pool members"]],
    ["no nodes", [{}, { nodes: [] }], ["update pool members"]],
    ["affinity", [{}, { sessionAffinity: { timeoutMs: 1_000 } }], ["update pool"]],
    ["the health check's time", [{ "health-monitor-delay": "9" }], ["update health monitor"]],
    ["no health check", [{ "enable-health-monitor": "false" }], ["delete health monitor"]],
    [
      "another health check",
      [{}, { healthCheck: { port: 32_000, path: "/healthz" } }],
      ["create pool", "update pool members", "create health monitor", "update listener", "delete pool"],
    ],
    [
      "another node port, without a gap",
      [{}, { ports: [tcp(80, 31_000)] }],
      ["create pool", "update pool members", "create health monitor", "update listener", "delete pool"],
    ],
    [
      "another port, whose predecessor goes first",
      [{}, { ports: [tcp(81)] }],
      [
        "delete listener",
        "create pool",
        "update pool members",
        "create health monitor",
        "create listener",
        "delete pool",
      ],
    ],
    [
      "a second protocol on the same port",
      [{}, { ports: [tcp(80), udp(80)] }],
      ["create pool", "update pool members", "create health monitor", "create listener"],
    ],
  ] satisfies readonly (readonly [string, Parameters<typeof wanted>, readonly string[]])[])(
    "changes %s",
    (_what, options, expected) => {
      expect(changesOf(stepsFor(options, made))).toEqual(expected);
    },
  );

  test.each([
    ["nothing points to, can be deleted before others are created", [{}, { ports: [tcp(81)] }], true],
    ["a listener still points to, cannot", [{}, { ports: [tcp(80, 31_000)] }], false],
  ] satisfies readonly (readonly [string, Parameters<typeof wanted>, boolean])[])(
    "a pool that %s (case S-3)",
    (_what, options, isUnneeded) => {
      expect(stepsFor(options, made).at(-1)).toMatchObject({ path: "/pools/p1", isUnneeded });
    },
  );

  test("compares source ranges by value (case S-1)", () => {
    const sourceRanges = ["2001:DB8:0:0::/32", "10.0.0.7/8", "10.0.0.0/8"];
    const open = { ...listener, allowed_cidrs: ["2001:db8::/32", "10.0.0.0/8"] };
    expect(stepsFor([{}, { sourceRanges }], { ...made, listeners: [open] })).toEqual([]);
    const [step] = stepsFor([{}, { sourceRanges }], made);
    expect(step?.body).toMatchObject({ listener: { allowed_cidrs: ["10.0.0.0/8", "2001:db8::/32"] } });
  });

  test("repairs a listener that points elsewhere", () => {
    expect(changesOf(stepsFor([], { ...made, listeners: [{ ...listener, default_pool_id: null }] }))).toEqual([
      "update listener",
    ]);
  });
});

describe("planMembers()", () => {
  const inSubnet = (...numbers: readonly number[]) => ({
    members: membersOf(numbers.map(node), { nodePort: 30_080 }, "subnet-2"),
    isForNodes: true,
  });
  const bodies = (steps: readonly Step[]) => steps.map(({ body }) => JSON.stringify(body).match(/10\.0\.0\.\d/g) ?? []);

  test("removes nodes before they come back in another subnet, for Octavia would keep the old one", () => {
    expect(bodies(planMembers("p", inSubnet(1, 2), [member]))).toEqual([["10.0.0.2"], ["10.0.0.1", "10.0.0.2"]]);
  });

  test("never removes all nodes at once when all of them get another subnet (case S-3)", () => {
    const present = [1, 2, 3].map((number) => ({ ...member, address: `10.0.0.${number}` }));
    expect(bodies(planMembers("p", inSubnet(1, 2, 3), present))).toEqual([
      ["10.0.0.3"],
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
      ["10.0.0.1", "10.0.0.2"],
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
    ]);
  });

  test("leaves the targets in place as long as no node has an address (case S-2)", () => {
    expect(planMembers("p", { members: [], isForNodes: true }, [member])).toEqual([]);
    expect(planMembers("p", { members: [], isForNodes: false }, [member])).toHaveLength(1);
  });

  test("compares addresses by value (case S-1)", () => {
    const [one] = inSubnet(1).members;
    const members = one ? [{ ...one, address: "2001:DB8:0::1" }] : [];
    const present = [{ ...member, address: "2001:db8::1", subnet_id: "subnet-2" }];
    expect(planMembers("p", { members, isForNodes: true }, present)).toEqual([]);
  });

  test("finds nothing to do for nodes in their subnet", () => {
    expect(planMembers("p", inSubnet(1), [{ ...member, subnet_id: "subnet-2" }])).toEqual([]);
  });
});

describe("withPool()", () => {
  const steps = stepsFor([], none);

  test("puts in the id of a pool that a step has made", () => {
    const ids = new Map([["k8s-1-tcp-80-tcp-to-30080", "p9"]]);
    const filled = steps.map((step) => withPool(step, ids));
    expect(filled.map(({ path }) => path)).toEqual(["/pools", "/pools/p9/members", "/healthmonitors", "/listeners"]);
    expect(filled.at(-1)?.body).toMatchObject({ listener: { default_pool_id: "p9", protocol_port: 80 } });
    expect(filled[1]?.body).toEqual({ members: [{ name: "node-1", address: "10.0.0.1", protocol_port: 30_080 }] });
  });

  test("never sends a place without an id", () => {
    expect(() => steps.map((step) => withPool(step, new Map()))).toThrow(/no step made pool/);
  });
});
