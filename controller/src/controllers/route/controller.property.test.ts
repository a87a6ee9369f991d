import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MINUTE_MS, PERIOD_MS, ROUTED, RouteHarness } from "../../../test/support/route/route-harness.ts";
import { contractError } from "../../provider/model/errors.ts";
import { sleep } from "../../util/abort.ts";

const NAMES = ["a", "b", "c", "d"] as const;
/** Nodes come and go while a call is under way. */
const SLOW_MS = 300;
const RANGES = [1, 2, 3, 4, 5, 6].map((third) => `10.120.${third}.0/24`);

type ToNodes =
  | { readonly kind: "node"; readonly name: string; readonly range: number }
  | { readonly kind: "unranged" | "gone" | "repeated"; readonly name: string };

type ToCloud =
  | { readonly kind: "blackhole" | "vanished" | "orphan"; readonly range: number }
  | { readonly kind: "faults"; readonly on: readonly ("list" | "ensure" | "delete")[] }
  | { readonly kind: "incomplete" | "slow" };

type ToController = { readonly kind: "reconnected" | "restarted" } | { readonly kind: "time"; readonly ms: number };

/** One thing that happens. */
type Step =
  | { readonly to: "nodes"; readonly what: ToNodes }
  | { readonly to: "cloud"; readonly what: ToCloud }
  | { readonly to: "controller"; readonly what: ToController };

const name = fc.constantFrom(...NAMES);
const range = fc.nat(RANGES.length - 1);
const toNodes: fc.Arbitrary<ToNodes> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("node"), name, range }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("unranged", "gone", "repeated"), name }) },
);
const toCloud: fc.Arbitrary<ToCloud> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("blackhole", "vanished", "orphan"), range }) },
  fc.record({ kind: fc.constant("faults"), on: fc.subarray(["list", "ensure", "delete"] as const) }),
  fc.record({ kind: fc.constantFrom("incomplete", "slow") }),
);
const toController: fc.Arbitrary<ToController> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(0, 50, 150, 1000, 70_000) }) },
  fc.record({ kind: fc.constantFrom("reconnected", "restarted") }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ to: fc.constant("nodes"), what: toNodes }) },
  fc.record({ to: fc.constant("cloud"), what: toCloud }),
  fc.record({ to: fc.constant("controller"), what: toController }),
);

/** Who has which range; a range is one node's at a time, as an allocator gives them. */
class Cluster {
  readonly ranges = new Map<string, string | undefined>();

  take(node: string, wanted: string): void {
    const isTaken = [...this.ranges].some(([other, held]) => other !== node && held === wanted);
    this.ranges.set(node, isTaken ? this.ranges.get(node) : wanted);
  }
}

async function happen(happened: Step, world: RouteHarness, cluster: Cluster): Promise<void> {
  switch (happened.to) {
    case "nodes":
      return happenToNodes(happened.what, world, cluster);
    case "cloud":
      return happenToCloud(happened.what, world);
    case "controller":
      return happenToController(happened.what, world);
    default:
      return happened satisfies never;
  }
}

function happenToNodes(what: ToNodes, world: RouteHarness, cluster: Cluster): void {
  const { ranges } = cluster;
  const show = (): void => {
    const held = ranges.get(what.name);
    world.node(what.name, held === undefined ? {} : { podCIDRs: [held] });
  };
  switch (what.kind) {
    case "node":
      cluster.take(what.name, RANGES[what.range] ?? "");
      return show();
    case "unranged":
      ranges.set(what.name, undefined);
      return show();
    case "gone":
      ranges.delete(what.name);
      return world.remove(what.name);
    case "repeated":
      return ranges.has(what.name) ? show() : undefined;
    default:
      return what satisfies never;
  }
}

function happenToCloud(what: ToCloud, world: RouteHarness): void {
  const { cloud } = world;
  switch (what.kind) {
    case "blackhole":
      return blacken(world, RANGES[what.range] ?? "");
    case "vanished":
      return void cloud.routes.delete(RANGES[what.range] ?? "");
    case "orphan":
      return void cloud.seed(RANGES[what.range] ?? "", "acme://long-gone");
    case "faults":
      cloud.fail = (call) => (what.on.includes(call) ? contractError("CLOUD_UNAVAILABLE", "away") : undefined);
      return undefined;
    case "incomplete":
      cloud.complete = !cloud.complete;
      return undefined;
    case "slow":
      cloud.beforeCall = () => sleep(SLOW_MS, new AbortController().signal, world.clock);
      return undefined;
    default:
      return what satisfies never;
  }
}

async function happenToController(what: ToController, world: RouteHarness): Promise<void> {
  switch (what.kind) {
    case "reconnected":
      return world.ready();
    case "restarted":
      return world.restart();
    case "time":
      return world.pass(what.ms);
    default:
      return what satisfies never;
  }
}

function blacken({ cloud }: RouteHarness, cidr: string): void {
  const route = cloud.routes.get(cidr);
  if (route !== undefined) cloud.routes.set(cidr, { ...route, blackhole: true });
}

describe("routes", () => {
  test("end as the nodes want them, whatever happened in which order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: "max" }), async (history) => {
        await using world = new RouteHarness();
        const users = world.cloud.seed("10.0.0.0/8", "acme://gateway");
        const cluster = new Cluster();
        await world.start();
        for (const what of history) await happen(what, world, cluster);
        world.cloud.fail = () => undefined;
        world.cloud.complete = true;
        world.cloud.beforeCall = () => Promise.resolve();
        await world.pass(2 * PERIOD_MS + MINUTE_MS);

        const wanted = [...cluster.ranges].flatMap(([node, held]) =>
          held === undefined ? [] : [[node, held] as const],
        );
        const routes = wanted.map(([node, held]) => `${held} acme://${node}`);
        expect(world.cloud.table).toEqual([...routes, `${users.destinationCidr} acme://gateway`].toSorted());
        expect(wanted.map(([node]) => world.condition(node))).toEqual(wanted.map(() => ROUTED));

        const before = world.cloud.changes.length;
        await world.restart();
        await world.pass(PERIOD_MS);
        expect(world.cloud.changes.slice(before)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
