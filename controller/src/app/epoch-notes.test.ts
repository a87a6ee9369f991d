import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeKube } from "../../test/support/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { LeaseLock } from "../kube/lease-lock.ts";
import { LEASES } from "../kube/lease-resource.ts";
import { ChangeSequence } from "../provider/change-sequence.ts";
import { contractError } from "../provider/errors.ts";
import type { Clock } from "../util/clock.ts";
import { recordField } from "../util/json.ts";
import { type EpochFacts, EpochNotes, nextEpoch } from "./epoch-notes.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const DURATION_MS = 15_000;
const ANNOTATION = "cloudwire.dev/change-epoch";
const { signal } = new AbortController();

/** One process: its candidate for the lease, and its numbers. Its wall clock may be wrong by `skewMs`. */
class Replica {
  readonly sequence: ChangeSequence;
  readonly lock: LeaseLock;

  constructor(kube: FakeKube, clock: FakeClock, identity: string, skewMs = 0) {
    const own: Clock = {
      nowMs: () => clock.nowMs() + skewMs,
      monotonicMs: () => clock.monotonicMs(),
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    };
    const log = new FakeLog();
    this.sequence = new ChangeSequence({ clock: own, log, isElected: true });
    this.lock = new LeaseLock({
      client: kube,
      lock: LOCK,
      identity,
      timeoutMs: 1000,
      leaseDurationMs: DURATION_MS,
      clock: own,
      log,
      notes: new EpochNotes({ sequence: this.sequence, identity, leaseDurationMs: DURATION_MS, clock: own }),
      onSlowPath: () => undefined,
    });
  }

  tick(): Promise<boolean> {
    return this.lock.tryAcquireOrRenew(signal);
  }

  /** The number of one more change; undefined: none may be sent. */
  change(): bigint | undefined {
    try {
      return this.sequence.next();
    } catch {
      return undefined;
    }
  }
}

const annotationOf = (kube: FakeKube) =>
  recordField(recordField(kube.stored(LEASES, LOCK) ?? {}, "metadata"), "annotations")?.[ANNOTATION];

describe("nextEpoch()", () => {
  const base: EpochFacts = { seen: 0, own: 0, wanted: 0, isHeld: false, nowMs: 1000 };

  test.each<[string, Partial<EpochFacts>, number]>([
    ["is the time of the first leader ever", {}, 1000],
    ["is the time of a later leader", { seen: 900 }, 1000],
    ["is one more than the last where the clock is behind", { seen: 5000 }, 5001],
    ["stays while the Lease is held", { isHeld: true, seen: 900, own: 900 }, 900],
    ["follows the changes of a term that were more than one epoch holds", { isHeld: true, seen: 900, own: 903 }, 903],
    ["is raised when a provider has seen a greater one", { isHeld: true, seen: 900, own: 900, wanted: 7000 }, 7000],
    ["is the time again when that is greater still", { isHeld: true, seen: 900, own: 900, wanted: 901 }, 1000],
    ["is new when the Lease was lost in between", { seen: 900, own: 900 }, 1000],
    ["is greater than what this process had, whatever the Lease has forgotten", { own: 8000 }, 8001],
  ])("%s", (_, facts, epoch) => {
    expect(nextEpoch({ ...base, ...facts })).toBe(epoch);
  });
});

describe("EpochNotes on a lease", () => {
  test("let no change go before the epoch is written, nor after the Lease may have been lost", async () => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const leader = new Replica(kube, clock, "a");
    const other = new Replica(kube, clock, "b");
    expect(leader.change()).toBeUndefined();
    await leader.tick();
    await other.tick();
    expect(annotationOf(kube)).toBe(String(clock.nowMs()));
    expect([leader.change(), other.change()]).toEqual([(BigInt(clock.nowMs()) << 20n) + 1n, undefined]);
    await clock.advance(DURATION_MS - 1);
    expect(leader.change()).toBeDefined();
    await clock.advance(1);
    expect(leader.change()).toBeUndefined();
    await leader.tick();
    expect(leader.change()).toBeDefined();
    await leader.lock.release();
    expect(leader.change()).toBeUndefined();
  });

  test("give a leader that comes back with its old numbers none until it has seen what is", async () => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const [paused, next] = [new Replica(kube, clock, "a"), new Replica(kube, clock, "b", -3_600_000)];
    await paused.tick();
    const late = paused.change() ?? 0n;
    await next.tick();
    await clock.advance(DURATION_MS);
    expect(await next.tick()).toBe(true);
    expect(next.change()).toBeGreaterThan(late);
    expect(paused.change()).toBeUndefined();
    paused.sequence.refused(contractError("STALE_GENERATION", "late"));
    expect(await paused.tick()).toBe(false);
    expect(paused.change()).toBeUndefined();
  });

  test("raise the epoch with the next renewal when a provider has applied newer changes", async () => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const leader = new Replica(kube, clock, "a");
    await leader.tick();
    const ahead = BigInt(clock.nowMs() + 86_400_000) << 20n;
    const metadata = { applied_sequence: String(ahead + 7n) };
    leader.sequence.refused(contractError("STALE_GENERATION", "late", { metadata }));
    expect(leader.change()).toBeLessThan(ahead);
    await clock.advance(2000);
    expect(await leader.tick()).toBe(true);
    expect(leader.change()).toBeGreaterThan(ahead + 7n);
    expect(annotationOf(kube)).toBe(String(clock.nowMs() - 2000 + 86_400_001));
    const before = annotationOf(kube);
    await leader.tick();
    expect(annotationOf(kube)).toBe(before);
  });

  test.each([["a word"], ["99999999999999"], ["-5"], [""]])("are not led astray by %j on the Lease", async (text) => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const leader = new Replica(kube, clock, "a");
    await leader.tick();
    const first = leader.change() ?? 0n;
    const body = { metadata: { annotations: { [ANNOTATION]: text } } };
    await kube.patch(LEASES, LOCK, { kind: "merge", body }, { signal });
    expect(await leader.tick()).toBe(true);
    expect(leader.change()).toBeGreaterThan(first);
    expect(Number(annotationOf(kube))).toBeGreaterThan(0);
  });

  type Step = {
    readonly who: number;
    readonly what: "tick" | "change" | "release" | "delete";
    readonly passMs: number;
  };
  const steps: fc.Arbitrary<Step> = fc.record({
    who: fc.integer({ min: 0, max: 2 }),
    what: fc.constantFrom("tick", "tick", "change", "change", "release", "delete"),
    passMs: fc.constantFrom(0, 0, 1, 2000, DURATION_MS, 2 * DURATION_MS),
  });

  test("number every change above all before, whoever leads, whatever clocks say and if the Lease is deleted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (history) => {
        const [kube, clock] = [new FakeKube(), new FakeClock()];
        const replicas = [0, -3_600_000, 60_000].map((skewMs, index) => new Replica(kube, clock, `r${index}`, skewMs));
        // They have all seen the Lease, as replicas that stand by have.
        for (const { lock } of replicas) await lock.tryAcquireOrRenew(signal);
        const numbers: bigint[] = [];
        for (const { who, what, passMs } of history) {
          await clock.advance(passMs);
          const replica = replicas[who];
          if (what === "delete") await kube.delete(LEASES, LOCK, { signal }).catch(() => undefined);
          else if (what === "release") await replica?.lock.release().catch(() => undefined);
          else if (what === "change") numbers.push(replica?.change() ?? 0n);
          if (what === "tick" || what === "delete") for (const one of replicas) await one.tick();
        }
        const sent = numbers.filter((number) => number > 0n);
        expect(sent).toEqual([...new Set(sent)].toSorted((a, b) => (a < b ? -1 : 1)));
      }),
      { numRuns: 100 },
    );
  });
});
