import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MINUTE_MS, NodeHarness, REFRESH_MS } from "../../../test/support/node/node-harness.ts";
import type { Node, NodeAddress } from "../../api/node.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { Instance } from "../../provider/model/instance.ts";

const NAMES = ["a", "b", "c"] as const;
const TYPE = "node.kubernetes.io/instance-type";
const BETA_TYPE = "beta.kubernetes.io/instance-type";
const ZONE = "topology.kubernetes.io/zone";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const USERS = "example.com/users";

type ToNode =
  | { readonly kind: "registered" | "gone" | "repeated"; readonly name: string }
  | { readonly kind: "edited"; readonly name: string; readonly label: string; readonly value: string };

type ToCloud =
  | { readonly kind: "machine"; readonly name: string; readonly instance: Partial<Instance> }
  | { readonly kind: "terminated"; readonly name: string }
  | { readonly kind: "fails" | "recovers" };

type ToController =
  | { readonly kind: "reconnected" | "restarted" | "lags" }
  | { readonly kind: "catchesUp"; readonly reversed: boolean; readonly twice: boolean }
  | { readonly kind: "time"; readonly ms: number };

/** One thing that happens. */
type Step =
  | { readonly to: "node"; readonly what: ToNode }
  | { readonly to: "cloud"; readonly what: ToCloud }
  | { readonly to: "controller"; readonly what: ToController };

const name = fc.constantFrom(...NAMES);
/** Of both families, because a family that the cloud no longer reports stays on the Node. */
const addresses: fc.Arbitrary<readonly NodeAddress[]> = fc
  .tuple(
    fc.constantFrom("10.0.0.1", "10.0.0.2").map((address) => ({ type: "InternalIP", address })),
    fc.constantFrom("fd00::1", "fd00::2").map((address) => ({ type: "InternalIP", address })),
    fc.constantFrom([], [{ type: "ExternalIP", address: "192.0.2.1" }]),
  )
  .chain(([one, other, more]) => fc.constantFrom([], [one, other, ...more], [...more, other, one]));
const instance: fc.Arbitrary<Partial<Instance>> = fc.record({
  instanceType: fc.constantFrom("small", "large"),
  zone: fc.constantFrom("x", "y"),
  addresses,
  labels: fc.constantFrom({}, { rack: "r1" }, { rack: "r2" }, { rack: "r2", [USERS]: "cloud" }),
});
const toNode: fc.Arbitrary<ToNode> = fc.oneof(
  fc.record({ kind: fc.constantFrom("registered", "gone", "repeated"), name }),
  fc.record({
    kind: fc.constant("edited"),
    name,
    label: fc.constantFrom(TYPE, BETA_TYPE, ZONE, BETA_ZONE, USERS, "rack"),
    value: fc.constantFrom("edited", "x"),
  }),
);
const toCloud: fc.Arbitrary<ToCloud> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("machine"), name, instance }) },
  fc.record({ kind: fc.constant("terminated"), name }),
  fc.record({ kind: fc.constantFrom("fails", "recovers") }),
);
const toController: fc.Arbitrary<ToController> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(0, 5, 40, 1000, REFRESH_MS) }) },
  fc.record({ kind: fc.constantFrom("reconnected", "restarted", "lags") }),
  fc.record({ kind: fc.constant("catchesUp"), reversed: fc.boolean(), twice: fc.boolean() }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ to: fc.constant("node"), what: toNode }),
  fc.record({ to: fc.constant("cloud"), what: toCloud }),
  fc.record({ to: fc.constant("controller"), what: toController }),
);

/** Plays histories, and knows what only users may change. */
class Play {
  readonly world = new NodeHarness({ topologyPolicy: "follow" });
  readonly registered = new Set<string>();
  /** The value that users gave their own label last. */
  readonly users = new Map<string, string>();

  async happen(happened: Step): Promise<void> {
    switch (happened.to) {
      case "node":
        return this.#toNode(happened.what);
      case "cloud":
        return this.#toCloud(happened.what);
      case "controller":
        return this.#toController(happened.what);
      default:
        return happened satisfies never;
    }
  }

  #toNode(what: ToNode): void {
    const isThere = this.registered.has(what.name);
    switch (what.kind) {
      case "registered":
        if (!isThere) this.#register(what.name);
        return;
      case "gone":
        this.registered.delete(what.name);
        this.users.delete(what.name);
        return this.world.remove(what.name);
      case "repeated":
        return isThere ? this.world.show(what.name) : undefined;
      case "edited":
        return isThere ? this.#edit(what.name, what.label, what.value) : undefined;
      default:
        return what satisfies never;
    }
  }

  #register(node: string): void {
    this.registered.add(node);
    this.world.register(node, {}, { uid: `uid-${this.world.clock.nowMs()}-${this.world.calls.length}-${node}` });
  }

  #edit(node: string, label: string, value: string): void {
    // One that the cloud set, or an operator before, is not theirs any more.
    const isTheirs =
      label === USERS &&
      !(this.world.node(node).metadata.annotations["cloudwire.dev/cloud-labels"] ?? "").includes(USERS);
    if (isTheirs) this.users.set(node, value);
    this.world.edit(node, { metadata: { labels: { [label]: value } } });
  }

  #toCloud(what: ToCloud): void {
    const { world } = this;
    switch (what.kind) {
      case "machine":
        return world.machine(what.name, what.instance);
      case "terminated":
        return void world.machines.delete(`acme://${what.name}`);
      case "fails":
        world.failure = contractError("CLOUD_UNAVAILABLE", "away");
        return undefined;
      case "recovers":
        world.failure = undefined;
        return undefined;
      default:
        return what satisfies never;
    }
  }

  async #toController(what: ToController): Promise<void> {
    const { world } = this;
    switch (what.kind) {
      case "reconnected":
        return world.providerReady();
      case "restarted":
        return world.restart();
      case "lags":
        world.isLagging = true;
        return undefined;
      case "catchesUp":
        return world.release((names) => ordered(names, what));
      case "time":
        return world.pass(what.ms);
      default:
        return what satisfies never;
    }
  }
}

function ordered(
  names: readonly string[],
  how: { readonly reversed: boolean; readonly twice: boolean },
): readonly string[] {
  const inOrder = how.reversed ? names.toReversed() : names;
  return how.twice ? [...inOrder, ...inOrder] : inOrder;
}

/** Everything in which the Node must agree with its machine. */
function shown(node: Node): object {
  const { labels } = node.metadata;
  return {
    providerID: node.spec.providerID,
    taints: node.spec.taints,
    addresses: node.status.addresses.map(({ address }) => address).toSorted(),
    labels: [TYPE, BETA_TYPE, ZONE, BETA_ZONE].map((label) => labels[label]),
  };
}

function wanted({ providerId, addresses: all, instanceType, zone }: Instance, node: Node): object {
  const kept = all.length === 0 ? node.status.addresses : all;
  return {
    providerID: providerId,
    taints: [],
    addresses: kept.map(({ address }) => address).toSorted(),
    labels: [instanceType, instanceType, zone, zone],
  };
}

describe("nodes", () => {
  test("end as the cloud has them, whatever happened in which order, and users keep what is theirs", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (history) => {
        const play = new Play();
        const { world } = play;
        await using _world = world;
        world.start();
        for (const happened of history) await play.happen(happened);
        for (const node of NAMES)
          world.machine(node, { instanceType: "small", zone: "x", ...world.machines.get(`acme://${node}`) });
        world.failure = undefined;
        world.release();
        // The longest back-off of what failed in this history, a tick and a repair.
        await world.pass(2 * REFRESH_MS + MINUTE_MS);
        world.providerReady();
        await world.pass(REFRESH_MS + MINUTE_MS);

        const nodes = [...play.registered].map((node) => world.node(node));
        const machines = nodes.map((node) => [node, world.machines.get(`acme://${node.metadata.name}`)] as const);
        expect(nodes.map(shown)).toEqual(
          machines.map(([node, machine]) => (machine === undefined ? {} : wanted(machine, node))),
        );
        const theirs = [...play.users].map(([node]) => [node, world.node(node).metadata.labels[USERS]]);
        expect(theirs).toEqual([...play.users]);

        const before = world.writes.length;
        await world.restart();
        await world.pass(REFRESH_MS);
        expect(world.writes.slice(before)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
