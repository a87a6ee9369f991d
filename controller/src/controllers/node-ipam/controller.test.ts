import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { IpamHarness, ranges } from "../../../test/support/node/ipam-harness.ts";

const DUAL = ranges(["10.0.0.0/22 24", "fd00::/62 64"]);
const ONE = ranges(["10.0.0.0/24 24"]);
const TWO = ranges(["10.0.0.0/23 24"]);
const MINUTE_MS = 60_000;

let world: IpamHarness;
beforeEach(() => {
  world = new IpamHarness();
});
afterEach(() => world.stop());

describe("node-ipam gives ranges", () => {
  test("of each family in one patch to the Node that it has seen, and no one else", async () => {
    world.node("a");
    world.node("b", [], { deletionTimestamp: "2026-11-21T11:00:00Z", finalizers: ["x"] });
    world.start(DUAL);
    await world.clock.advance(0);
    expect(world.patches).toEqual([
      {
        verb: "patch",
        target: "nodes/a",
        patch: {
          kind: "strategic",
          body: {
            metadata: { uid: "uid-1" },
            spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "fd00::/64"] },
          },
        },
      },
    ]);
    await world.clock.advance(10 * MINUTE_MS);
    expect([world.patches.length, world.events]).toEqual([1, []]);
  });

  test("round the cluster's range, each to one Node, and again when all were used", async () => {
    world.start(ranges(["10.0.0.0/22 24"]));
    for (const name of ["a", "b", "c"]) world.node(name);
    await world.clock.advance(0);
    await world.remove("a");
    for (const name of ["d", "e"]) world.node(name);
    await world.clock.advance(0);
    expect(world.held).toEqual({
      b: ["10.0.1.0/24"],
      c: ["10.0.2.0/24"],
      d: ["10.0.3.0/24"],
      e: ["10.0.0.0/24"],
    });
  });

  test.each(["10.0.0.0/22", "10.0.0.0/8", "0.0.0.0/0"])(
    "also beside a Node whose kubelet has set %s, and says so (case A-1)",
    async (cidr) => {
      world.node("old", ["10.0.0.0/24"]);
      world.start(ranges(["10.0.0.0/22 24"]));
      world.node("attacker", [cidr]);
      world.node("a");
      await world.clock.advance(0);
      expect(world.rangesOf("a")).toEqual(["10.0.1.0/24"]);
      await world.remove("attacker");
      world.node("b");
      await world.clock.advance(0);
      expect(world.held).toEqual({ old: ["10.0.0.0/24"], a: ["10.0.1.0/24"], b: ["10.0.2.0/24"] });
      expect(JSON.stringify(world.log.lines)).toContain("contains a whole CIDR of --cluster-cidr and is not reserved");
    },
  );

  test("that no Node has, whether it was there before or came with its own", async () => {
    world.node("old", ["10.0.0.0/24", "fd00::/64"]);
    world.start(DUAL);
    world.node("preset", ["10.0.1.0/24", "fd00:0:0:2::/64"]);
    world.node("a");
    await world.clock.advance(0);
    expect(world.rangesOf("a")).toEqual(["10.0.2.0/24", "fd00:0:0:1::/64"]);
    expect(world.patches.map(({ target }) => target)).toEqual(["nodes/a"]);
  });
});

describe("node-ipam at its start", () => {
  test("knows what the server has, though its cache does not show it yet", async () => {
    world.node("before");
    world.node("a");
    world.isLagging = true;
    world.node("before", ["10.0.0.0/24"], { uid: "uid-1" });
    world.start(ONE);
    await world.clock.advance(0);
    expect(world.held).toEqual({ before: ["10.0.0.0/24"], a: [] });
    expect(world.events).toEqual(["a: Normal CIDRNotAvailable Node a status is now: CIDRNotAvailable"]);
  });

  test("gives nothing before the server has answered", async () => {
    let failures = 2;
    world.kube.intercept = ({ verb }) => (verb === "list" && failures-- > 0 ? apiError("transient") : undefined);
    world.node("a");
    world.start(ONE);
    await world.clock.advance(1400);
    expect(world.patches).toEqual([]);
    await world.clock.advance(200);
    expect(world.rangesOf("a")).toEqual(["10.0.0.0/24"]);
  });

  test("loses no range of a Node that goes before the cache shows it", async () => {
    world.node("a");
    world.isLagging = true;
    world.node("ghost", ["10.0.0.0/24"]);
    world.start(ONE);
    await world.clock.advance(500);
    expect([world.patches, world.events]).toEqual([[], []]);
    await world.remove("ghost");
    await world.clock.advance(1000);
    expect(world.rangesOf("a")).toEqual(["10.0.0.0/24"]);
  });

  test("logs what is unexpected, together at the start and one by one later, and leaves it", async () => {
    for (let index = 0; index < 7; index++) world.node(`unexpected-${index}`, [`172.16.${index}.0/24`]);
    world.start(ONE);
    await world.clock.advance(0);
    world.node("a");
    world.node("late", ["172.16.9.0/24"]);
    await world.clock.advance(10 * MINUTE_MS);
    expect([world.rangesOf("a"), world.rangesOf("unexpected-6"), world.rangesOf("late")]).toEqual([
      ["10.0.0.0/24"],
      ["172.16.6.0/24"],
      ["172.16.9.0/24"],
    ]);
    const what = "is outside of --cluster-cidr";
    const examples = [0, 1, 2, 3, 4].map((index) => `unexpected-${index} 172.16.${index}.0/24`);
    expect(world.log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
      { detail: what, count: 7, examples },
      { node: "late", podCIDR: "172.16.9.0/24", detail: what },
    ]);
  });
});

describe("node-ipam without a free range", () => {
  test("says so at once and then every five minutes, and gives the next that comes free", async () => {
    world.start(ONE);
    world.node("a");
    world.node("b");
    world.node("c");
    await world.clock.advance(0);
    const reported = ["b", "c"].map(
      (name) => `${name}: Normal CIDRNotAvailable Node ${name} status is now: CIDRNotAvailable`,
    );
    expect(world.events).toEqual(reported);
    expect(await world.metrics.value("cloudwire_node_ipam_waiting_nodes")).toBe(2);
    await world.clock.advance(4 * MINUTE_MS);
    expect(world.events).toEqual(reported);
    await world.clock.advance(2 * MINUTE_MS);
    expect(world.events).toEqual([...reported, ...reported]);
    await world.remove("a");
    await world.clock.advance(0);
    expect(world.held).toEqual({ b: ["10.0.0.0/24"], c: [] });
    expect(await world.metrics.value("cloudwire_node_ipam_waiting_nodes")).toBe(1);
    await world.remove("b");
    await world.clock.advance(0);
    expect([world.held, world.events.length]).toEqual([{ c: ["10.0.0.0/24"] }, 4]);
  });

  test("of one family holds none of the other", async () => {
    world.start(ranges(["10.0.0.0/22 24", "fd00::/64 64"]));
    world.node("a");
    world.node("b");
    await world.clock.advance(30 * MINUTE_MS);
    const labels = { clusterCIDR: "10.0.0.0/22" };
    expect(await world.metrics.value("node_ipam_controller_cidrset_usage_cidrs", labels)).toBe(0.25);
    await world.remove("a");
    await world.clock.advance(0);
    expect(world.rangesOf("b")).toEqual(["10.0.1.0/24", "fd00::/64"]);
  });

  test("forgets a Node that waits and goes", async () => {
    world.start(ONE);
    world.node("a");
    world.node("b");
    await world.clock.advance(0);
    await world.remove("b");
    await world.clock.advance(0);
    expect(await world.metrics.value("cloudwire_node_ipam_waiting_nodes")).toBe(0);
  });
});

describe("node-ipam whose write fails", () => {
  test("writes the same ranges again when the answer was lost, and gives them to no one", async () => {
    let answers = 0;
    world.fate = () => (answers++ === 0 ? "lost" : "answered");
    world.node("a");
    world.isLagging = true;
    world.start(TWO);
    await world.clock.advance(10);
    expect(world.patches.map(({ patch }) => patch)).toEqual([world.patches[0]?.patch, world.patches[0]?.patch]);
    world.isLagging = false;
    world.node("b");
    await world.clock.advance(10);
    expect([world.held, world.events]).toEqual([{ a: ["10.0.0.0/24"], b: ["10.0.1.0/24"] }, []]);
  });

  test("says so from the third failure on, and keeps the ranges for the Node", async () => {
    world.fate = (name) => (name === "a" ? "refused" : "answered");
    world.start(TWO);
    world.node("a");
    await world.clock.advance(12);
    expect(world.events).toEqual([]);
    await world.clock.advance(10);
    expect(world.events).toEqual(["a: Normal CIDRAssignmentFailed Node a status is now: CIDRAssignmentFailed"]);
    world.node("b");
    await world.clock.advance(0);
    world.fate = () => "answered";
    await world.clock.advance(MINUTE_MS);
    expect(world.held).toEqual({ a: ["10.0.0.0/24"], b: ["10.0.1.0/24"] });
  });

  test("takes its ranges back when another client was faster", async () => {
    world.start(TWO);
    await world.clock.advance(0);
    world.node("a");
    world.isLagging = true;
    world.node("a", ["10.0.1.0/24"], { uid: "uid-1" });
    await world.clock.advance(0);
    world.isLagging = false;
    world.sync();
    world.node("b");
    await world.clock.advance(0);
    expect([world.held, world.events]).toEqual([{ a: ["10.0.1.0/24"], b: ["10.0.0.0/24"] }, []]);
  });

  test("never writes to another Node of the same name", async () => {
    world.start(TWO);
    await world.clock.advance(0);
    world.node("a");
    world.isLagging = true;
    await world.remove("a");
    world.node("a");
    await world.clock.advance(1000);
    expect([world.held, world.events]).toEqual([{ a: [] }, []]);
    world.isLagging = false;
    world.sync();
    await world.clock.advance(0);
    expect(world.held).toEqual({ a: ["10.0.1.0/24"] });
  });

  test.each([
    { sentence: "is gone", codes: { patch: "notFound" } },
    { sentence: "has changed and is gone when it is read", codes: { patch: "conflict", get: "notFound" } },
  ] as const)("lets it be when the Node $sentence", async ({ codes }) => {
    const refusals = new Map<string, "notFound" | "conflict">(Object.entries(codes));
    world.start(ONE);
    world.kube.intercept = ({ verb }) => {
      const code = refusals.get(verb);
      return code && apiError(code);
    };
    world.node("a");
    await world.clock.advance(MINUTE_MS);
    expect([world.patches.length, world.events]).toEqual([1, []]);
  });

  test("says nothing when it is reported to end", async () => {
    world.start(ONE);
    world.kube.intercept = ({ verb }) => (verb === "patch" ? new Promise(() => undefined) : undefined);
    world.node("a");
    await world.clock.advance(1000);
    await world.stop();
    expect(world.events).toEqual([]);
  });

  test("tries again when a refusal cannot be looked into, or nothing explains it", async () => {
    world.start(ONE);
    const answers = ["invalid", "transient", "invalid", "answer"] as const;
    let calls = 0;
    world.kube.intercept = ({ verb }) => {
      if (verb === "list") return undefined;
      const code = answers[Math.min(calls++, 3)];
      return code === undefined || code === "answer" ? undefined : apiError(code);
    };
    world.node("a");
    await world.clock.advance(1000);
    expect([world.rangesOf("a"), world.events]).toEqual([["10.0.0.0/24"], []]);
  });
});
