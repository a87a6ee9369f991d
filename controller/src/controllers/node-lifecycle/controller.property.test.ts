import fc from "fast-check";
import { expect, test } from "vitest";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { LifecycleHarness, type Said } from "../../../test/support/node/lifecycle-harness.ts";
import { APPROVE_DELETION } from "../../api/annotations.ts";
import { NODES } from "../../kube/resources/node.ts";
import { contractError } from "../../provider/model/errors.ts";
import { DELETION_WINDOW_MS } from "./guard/circuit-breaker.ts";
import { isShutDown, notReadySinceMs } from "./predicates.ts";

const AWAY = contractError("CLOUD_UNAVAILABLE", "503");
const THROTTLED = contractError("RATE_LIMITED", "429");
/** From the first to the last absence, and the time to settle (settings of the world). */
const SPAN_MS = 30_000;
const PERIOD_MS = 5000;
/** Longer than any back-off, freeze or window. */
const LONG_MS = 2_400_000;

/** One thing that happens to some of the Nodes, to the cloud's answers, or around the controller. */
type Step =
  | { readonly kind: "says"; readonly nodes: readonly number[]; readonly said: Said }
  | { readonly kind: "added" | "lost" | "ready" | "repeated" | "released"; readonly nodes: readonly number[] }
  | {
      readonly kind: "provider";
      readonly bootId: string;
      readonly scopeId: string;
      readonly untrustedReason: string | undefined;
    }
  | { readonly kind: "serverFails"; readonly fails: boolean }
  | { readonly kind: "time"; readonly ms: number };

function steps(count: number, groups: fc.Arbitrary<readonly number[]>, gone: fc.Arbitrary<readonly number[]>) {
  const all = Array.from({ length: count }, (_, index) => index);
  const nodes = fc.oneof(groups, fc.constant(all));
  const alive = fc.constantFrom<Said>(
    "running",
    "stopped",
    "stopping",
    "pending",
    "unknown",
    "notOwned",
    AWAY,
    THROTTLED,
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("says"), nodes, said: alive }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("says"),
        nodes: gone,
        said: fc.constantFrom<Said>("absent", "terminated"),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("added", "lost", "ready", "repeated"), nodes }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("provider"),
        bootId: fc.constantFrom("boot-1", "boot-2"),
        scopeId: fc.constantFrom("project-1", "project-2"),
        untrustedReason: fc.constantFrom(undefined, undefined, "sick"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("serverFails"), fails: fc.boolean() }) },
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(0, 100, 5000, 15_000, 31_000, 70_000) }),
    },
  );
  return { step, nodes };
}

/** The world, and the truth about it that a deletion is measured against. */
class History implements AsyncDisposable {
  readonly world = new LifecycleHarness();
  readonly names: readonly string[];
  /** Deletions that the server was asked for, when, and why that was wrong. */
  readonly deletions: { readonly name: string; readonly atMs: number }[] = [];
  readonly wrong: string[] = [];
  #serverFails = false;
  #added = 0;

  constructor(count: number) {
    const { world } = this;
    this.names = world.names(count);
    for (const name of this.names) world.node(name);
    world.kube.intercept = ({ verb, target }) => {
      if (this.#serverFails) return apiError("transient");
      if (verb === "delete") this.#deleted(target.replace("nodes/", ""));
      return undefined;
    };
    world.start();
  }

  async happen(what: Step): Promise<void> {
    const { world } = this;
    switch (what.kind) {
      case "says":
        for (const name of this.#namesOf(what.nodes)) world.says.set(name, what.said);
        break;
      case "provider":
        Object.assign(world, { bootId: what.bootId, scopeId: what.scopeId, untrustedReason: what.untrustedReason });
        break;
      case "serverFails":
        this.#serverFails = what.fails;
        break;
      case "time":
        await world.clock.advance(what.ms);
        break;
      case "added":
      case "lost":
      case "ready":
      case "repeated":
      case "released":
        for (const name of this.#namesOf(what.nodes)) this.#change(name, what.kind);
        break;
      default:
        return what satisfies never;
    }
  }

  exists(name: string): boolean {
    return this.world.nodes.lister.get(name) !== undefined;
  }

  isReady(name: string): boolean {
    const node = this.world.nodes.lister.get(name);
    return node?.status.conditions.some(({ type, status }) => type === "Ready" && status === "True") === true;
  }

  isMarked(name: string): boolean {
    const stored = this.world.kube.stored(NODES, { name });
    return stored !== undefined && isShutDown(NODES.fromJson(stored));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.stop();
  }

  #namesOf(nodes: readonly number[]): readonly string[] {
    return nodes.flatMap((index) => this.names[index] ?? []);
  }

  #change(name: string, kind: "added" | "lost" | "ready" | "repeated" | "released"): void {
    const { world } = this;
    if (kind === "added" && !this.exists(name)) world.node(name, { uid: `uid-${name}-${++this.#added}`, ageMs: 0 });
    if (!this.exists(name)) return;
    if (kind === "lost" && this.isReady(name)) world.ready(name, "Unknown");
    if (kind === "ready" && !this.isReady(name)) world.ready(name);
    if (kind === "repeated") world.annotate(name, {});
    if (kind === "released") world.annotate(name, { [APPROVE_DELETION]: "true" });
  }

  #deleted(name: string): void {
    const { world } = this;
    this.deletions.push({ name, atMs: world.clock.monotonicMs() });
    if (world.untrustedReason !== undefined) this.wrong.push(`${name} while the provider is not trusted`);
    if (!this.#isConfirmed(name)) this.wrong.push(`${name} without enough absences`);
  }

  /** Nothing but absences for long enough, from one process in one scope, all heard of since the Node became not Ready. */
  #isConfirmed(name: string): boolean {
    const { world } = this;
    const node = world.nodes.lister.get(name);
    if (node === undefined || this.isReady(name)) return false;
    const about = world.heard.filter((heard) => heard.name === name && heard.atMs > notReadySinceMs(node));
    const by = about.at(-1)?.by;
    const broken = about.findLastIndex(({ said, by: other }) => !isGone(said) || other !== by);
    const run = about.slice(broken + 1);
    const [first] = run;
    // One that the cloud calls terminated needs no more than the time in which others like it come to light.
    const neededMs = run.some(({ said }) => said === "terminated") ? PERIOD_MS : SPAN_MS;
    return first !== undefined && world.clock.nowMs() - first.atMs >= neededMs;
  }
}

function isGone(said: Said | undefined): boolean {
  return said === "absent" || said === "terminated";
}

const terminated = (nodes: readonly number[]): Step => ({ kind: "says", nodes, said: "terminated" });

const FEW = 6;
const few = steps(
  FEW,
  fc.subarray([0, 1, 2, 3, 4, 5]),
  // So many may always go: the circuit breaker never changes what comes of them in the end.
  fc.subarray([0, 1, 2]),
);

test("node-lifecycle ends as the last facts want it on any history of Nodes, answers and failures", async () => {
  let [deletions, marks] = [0, 0];
  const last = fc.array(fc.constantFrom<Said>("running", "stopped"), { minLength: FEW, maxLength: FEW });
  const release: fc.Arbitrary<Step> = fc.record({ kind: fc.constant("released"), nodes: few.nodes });
  const steps = fc.array(fc.oneof({ weight: 20, arbitrary: few.step }, { weight: 1, arbitrary: release }), {
    maxLength: 30,
    size: "max",
  });
  await fc.assert(
    fc.asyncProperty(steps, last, async (history, states) => {
      await using it = new History(FEW);
      const { world, names } = it;
      for (const what of history) await it.happen(what);
      await it.happen({ kind: "serverFails", fails: false });
      await it.happen({ kind: "provider", bootId: world.bootId, scopeId: world.scopeId, untrustedReason: undefined });
      // What is on its way somewhere arrives; what the cloud did not report, it reports now.
      for (const [index, name] of names.entries()) {
        const said = world.says.get(name);
        if (!isGone(said)) world.says.set(name, states[index] ?? "running");
      }
      const wanted = names.map((name) => wantedOf(it, name));
      await it.happen({ kind: "time", ms: LONG_MS });

      expect(names.map((name) => (it.exists(name) ? (it.isMarked(name) ? "marked" : "there") : "gone"))).toEqual(
        wanted,
      );
      expect(it.wrong).toEqual([]);
      deletions += it.deletions.length;
      marks += wanted.filter((want) => want === "marked").length;

      const before = world.kube.writes.length;
      await it.happen({ kind: "time", ms: LONG_MS });
      expect(world.kube.writes.slice(before)).toEqual([]);
    }),
    { numRuns: 20, examples: [[[terminated([0])], Array<Said>(FEW).fill("stopped")]] },
  );
  // A controller that does nothing would be right about Nodes that need nothing.
  expect([deletions, marks]).not.toContain(0);
}, 120_000);

/** What is to become of a Node, by the facts of this moment alone. */
function wantedOf(it: History, name: string): "gone" | "marked" | "there" {
  if (!it.exists(name)) return "gone";
  if (it.isReady(name)) return "there";
  const said = it.world.says.get(name);
  if (isGone(said)) return "gone";
  return said === "stopped" ? "marked" : "there";
}

const MANY = 40;
const all = Array.from({ length: MANY }, (_, index) => index);
const someOfMany = fc.uniqueArray(fc.nat(MANY - 1), { maxLength: 6 });
const many = steps(
  MANY,
  someOfMany,
  fc.oneof({ weight: 9, arbitrary: someOfMany }, { weight: 1, arbitrary: fc.subarray(all) }),
);

test("node-lifecycle deletes at most as many Nodes as the circuit breaker allows, and only confirmed ones, on any history", async () => {
  let [deletions, open] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(many.step, { maxLength: 30, size: "max" }), async (history) => {
      await using it = new History(MANY);
      for (const what of history) await it.happen(what);
      await it.happen({ kind: "time", ms: 2 * DELETION_WINDOW_MS });
      const most = Math.max(0, ...it.deletions.map(({ atMs }) => inWindow(it, atMs)));
      expect(it.wrong).toEqual([]);
      // --node-deletion-max-percent 10 of 40.
      expect(most).toBeLessThanOrEqual(4);
      deletions += it.deletions.length;
      open += it.world.events.some((text) => text.includes("are deleted within")) ? 1 : 0;
    }),
    { numRuns: 20, examples: [[[terminated([0])]], [[terminated(all)]]] },
  );
  expect([deletions, open]).not.toContain(0);
}, 120_000);

function inWindow({ deletions }: History, untilMs: number): number {
  return deletions.filter(({ atMs }) => atMs > untilMs - DELETION_WINDOW_MS && atMs <= untilMs).length;
}
