import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Fate, IpamHarness, ranges } from "../../../test/support/node/ipam-harness.ts";

const CLUSTER = ranges(["10.0.0.0/21 24", "fd00::/62 64"], ["10.0.2.0/24"]);
const FAMILIES = ["10.0.0.0/21", "fd00::/62"] as const;
const SERVICES = "10.0.2.0/24";
const NAMES = ["a", "b", "c", "d", "e", "f"] as const;

/** One thing that happens. */
type Step =
  | { readonly kind: "joins" | "goes" | "repeated"; readonly name: string }
  | { readonly kind: "preset"; readonly name: string; readonly block: number }
  | { readonly kind: "writes"; readonly fates: readonly Fate[] }
  | { readonly kind: "cache"; readonly isLagging: boolean }
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "restart" };

const name = fc.constantFrom(...NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom("joins", "goes", "repeated"), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("preset"), name, block: fc.constantFrom(0, 1, 3, 4) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("writes"),
      fates: fc.array(fc.constantFrom<Fate>("answered", "refused", "lost"), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cache"), isLagging: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(0, 5, 100, 2000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart") }) },
);

async function happen(what: Step, world: IpamHarness): Promise<void> {
  switch (what.kind) {
    case "joins":
      if (!(what.name in world.held)) world.node(what.name);
      return;
    case "preset": {
      // By an operator who looks first and comes when nothing is on its way: what is given behind each other's back is given twice.
      const block = `10.0.${what.block}.0/24`;
      const held = Object.values(world.held);
      const isCalm = !world.isLagging && held.every((given) => given.length > 0 && !given.includes(block));
      if (isCalm && !(what.name in world.held)) world.node(what.name, [block]);
      return;
    }
    case "goes":
      return world.remove(what.name);
    case "repeated":
      return world.repeat(what.name);
    case "writes": {
      let next = 0;
      world.fate = () => what.fates[next++ % what.fates.length] ?? "answered";
      return;
    }
    case "cache":
      world.isLagging = what.isLagging;
      return world.sync();
    case "time":
      return world.clock.advance(what.ms);
    case "restart":
      await world.stop();
      return world.start(CLUSTER);
    default:
      what satisfies never;
  }
}

/** Ranges that two Nodes have at the server, or a Node and Services. */
function conflicts(world: IpamHarness): readonly string[] {
  const all = Object.values(world.held).flat();
  return all.filter((range, index) => range === SERVICES || all.indexOf(range) !== index);
}

async function usage(world: IpamHarness): Promise<readonly (number | undefined)[]> {
  const of = (clusterCIDR: string) => world.metrics.value("node_ipam_controller_cidrset_usage_cidrs", { clusterCIDR });
  return Promise.all(FAMILIES.map(of));
}

describe("node-ipam in any history", () => {
  test("allocates no CIDR twice, allocates while it can, and frees all when the Nodes are deleted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (history) => {
        const world = new IpamHarness();
        world.start(CLUSTER);
        const twice: string[] = [];
        for (const what of history) {
          await happen(what, world);
          twice.push(...conflicts(world));
        }
        await calmDown(world);
        twice.push(...conflicts(world));
        const held = Object.values(world.held);
        for (const node of NAMES) await world.remove(node);
        await world.clock.advance(0);
        const after = await usage(world);
        await world.stop();
        const [without, dual] = [0, 2].map((count) => held.filter(({ length }) => length === count).length);
        // Of the second family there are four.
        expect({ twice, isServed: without === 0 || dual === 4, after }).toEqual({
          twice: [],
          isServed: true,
          after: [1 / 8, 0],
        });
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});

/** Longer than the longest back-off. */
async function calmDown(world: IpamHarness): Promise<void> {
  world.fate = () => "answered";
  world.isLagging = false;
  world.sync();
  await world.clock.advance(2_000_000);
}
