import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { apiError, FakeKube } from "../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import type { ObjectName } from "../api/meta.ts";
import type { JsonObject, WriteOptions } from "../kube/client.ts";
import { LEASES, LeaseLock } from "./lease-lock.ts";
import type { Resource } from "../kube/resources/codec.ts";
import { ChangeSequence, EpochAnnotation, type EpochFacts, MAX_EPOCH, nextEpoch } from "./change-sequence.ts";
import { contractError } from "../provider/model/errors.ts";
import type { Clock } from "../util/clock.ts";
import { type JsonRecord, recordField } from "../util/json.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const DURATION_MS = 15_000;
const ANNOTATION = "cloudwire.dev/change-epoch";
const { signal } = new AbortController();

/** What befalls writes: none arrives, or they are carried out and no answer comes back. Reads are served. */
type Fault = "none" | "refused" | "lost";

class FaultyKube extends FakeKube {
  fault: Fault = "none";

  override create<T>(resource: Resource<T>, namespace: string, body: JsonObject, options: WriteOptions): Promise<T> {
    return this.#write(() => super.create(resource, namespace, body, options));
  }

  override update<T>(resource: Resource<T>, name: ObjectName, body: JsonRecord, options: WriteOptions): Promise<T> {
    return this.#write(() => super.update(resource, name, body, options));
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    if (this.fault === "refused") throw apiError("transient");
    const answer = await write();
    if (this.fault === "lost") throw apiError("transient");
    return answer;
  }
}

/** One process: its candidate for the lease, and its numbers. Its wall clock may be wrong by `skewMs`. */
class Replica {
  readonly sequence: ChangeSequence;
  readonly lock: LeaseLock;
  readonly log = new FakeLog();

  constructor(kube: FakeKube, clock: FakeClock, identity: string, skewMs = 0) {
    const own: Clock = {
      nowMs: () => clock.nowMs() + skewMs,
      monotonicMs: () => clock.monotonicMs(),
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    };
    const { log } = this;
    this.sequence = new ChangeSequence({ clock: own, log, isElected: true });
    this.lock = new LeaseLock({
      client: kube,
      lock: LOCK,
      identity,
      timeoutMs: 1000,
      leaseDurationMs: DURATION_MS,
      clock: own,
      log,
      annotations: new EpochAnnotation({ sequence: this.sequence, identity, clock: own }),
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
  const base: EpochFacts = { seen: 0, own: 0, required: 0, isHeld: false, nowMs: 1000 };

  test.each<[string, Partial<EpochFacts>, number]>([
    ["is the time of the first leader ever", {}, 1000],
    ["is the time of a later leader", { seen: 900 }, 1000],
    ["is one more than the last where the clock is behind", { seen: 5000 }, 5001],
    ["stays while the Lease is held", { isHeld: true, seen: 900, own: 900 }, 900],
    ["follows the changes of a term that were more than one epoch holds", { isHeld: true, seen: 900, own: 903 }, 903],
    ["is raised when a provider has seen a greater one", { isHeld: true, seen: 900, own: 900, required: 7000 }, 7000],
    ["is the time again when that is greater still", { isHeld: true, seen: 900, own: 900, required: 901 }, 1000],
    ["is new when the Lease was lost in between", { seen: 900, own: 900 }, 1000],
    ["stays below what can be read again", { nowMs: MAX_EPOCH + 5 }, MAX_EPOCH - 1],
    ["is greater than what this process had, whatever the Lease has forgotten", { own: 8000 }, 8001],
  ])("%s", (_, facts, epoch) => {
    expect(nextEpoch({ ...base, ...facts })).toBe(epoch);
  });
});

describe("EpochAnnotation on a lease", () => {
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
    await leader.lock.release(signal);
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
    paused.sequence.rejected(contractError("STALE_GENERATION", "late"));
    expect(await paused.tick()).toBe(false);
    expect(paused.change()).toBeUndefined();
  });

  test("raise the epoch with the next renewal when a provider has applied newer changes", async () => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const leader = new Replica(kube, clock, "a");
    await leader.tick();
    const ahead = BigInt(clock.nowMs() + 86_400_000) << 20n;
    const metadata = { applied_sequence: String(ahead + 7n) };
    leader.sequence.rejected(contractError("STALE_GENERATION", "late", { metadata }));
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

  test.each([
    ["the last epoch", 2 ** 43 - 1],
    ["the one before", 2 ** 43 - 2],
    ["one beyond all", 2 ** 43],
    ["the last number of a sequence", 2 ** 63 - 1],
    ["a time in two hundred years", Date.UTC(2226, 0, 1)],
  ])("go on with %s on the Lease, from one process to the next, and say where it is", async (_, epoch) => {
    const [kube, clock] = [new FaultyKube(), new FakeClock()];
    const body = { metadata: { annotations: { [ANNOTATION]: BigInt(epoch).toString() } } };
    const sent: bigint[] = [];
    for (const identity of ["a", "b", "c"]) {
      const one = new Replica(kube, clock, identity);
      expect(await one.tick()).toBe(true);
      sent.push(one.change() ?? 0n);
      await kube.patch(LEASES, LOCK, { kind: "merge", body }, { signal });
      await clock.advance(2000);
      // One renewal may find out.
      await one.tick();
      await one.tick();
      sent.push(one.change() ?? 0n);
      await kube.patch(LEASES, LOCK, { kind: "merge", body }, { signal });
      await one.lock.release(signal);
      expect(one.log.lines.filter(({ level }) => level === "error")).toEqual([
        {
          level: "error",
          message: expect.stringContaining("invalid change epoch"),
          fields: { source: `annotation ${ANNOTATION} of the Lease`, epoch },
        },
      ]);
    }
    expect(sent).toEqual([...new Set(sent)].toSorted((a, b) => (a < b ? -1 : 1)));
    expect(sent[0]).toBeGreaterThan(0n);
    expect(sent.at(-1)).toBeLessThan(BigInt(clock.nowMs() + 1000) << 20n);
  });

  test.each([
    ["the last epoch", (2n ** 43n - 1n) << 20n],
    ["the one before", (2n ** 43n - 2n) << 20n],
    ["the last number", 2n ** 63n - 1n],
  ])("go on with %s of a provider, from one process to the next", async (_, applied) => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const sent: bigint[] = [];
    for (const identity of ["a", "b", "c"]) {
      const one = new Replica(kube, clock, identity);
      await one.tick();
      for (let again = 0; again < 3; again++) {
        const metadata = { applied_sequence: String(applied) };
        one.sequence.rejected(contractError("STALE_GENERATION", "late", { metadata }));
        await clock.advance(2000);
        expect(await one.tick()).toBe(true);
        sent.push(one.change() ?? 0n);
      }
      await one.lock.release(signal);
    }
    expect(sent).toEqual([...new Set(sent)].toSorted((a, b) => (a < b ? -1 : 1)));
    expect(sent[0]).toBeGreaterThan(0n);
    expect(sent.at(-1)).toBeLessThan(BigInt(clock.nowMs() + 1000) << 20n);
  });

  test("believe an epoch some years ahead, whose clock it was, though their own is at its beginning", async () => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const ahead = new Replica(kube, clock, "a", 5 * 365 * 86_400_000);
    await ahead.tick();
    const first = ahead.change() ?? 0n;
    await ahead.lock.release(signal);
    const behind = new Replica(kube, clock, "b", -clock.nowMs());
    await behind.tick();
    expect(behind.change()).toBeGreaterThan(first);
  });

  test("count the validity from the renewal that succeeded, not from one that failed before the Lease was read", async () => {
    const [kube, clock] = [new FaultyKube(), new FakeClock()];
    const [leader, next] = [new Replica(kube, clock, "a"), new Replica(kube, clock, "b")];
    await leader.tick();
    await next.tick();
    kube.fault = "refused";
    for (const atMs of [2000, 4000, 6000, 8000]) {
      await clock.advance(2000);
      expect([atMs, await leader.tick()]).toEqual([atMs, false]);
    }
    kube.fault = "none";
    expect(leader.change()).toBeDefined();
    await clock.advance(DURATION_MS - 8000);
    expect(await next.tick()).toBe(true);
    expect([leader.change(), next.change() === undefined]).toEqual([undefined, false]);
  });

  test("let no change go once the Lease is given up, though no answer says that it is", async () => {
    const [kube, clock] = [new FaultyKube(), new FakeClock()];
    const [leader, next] = [new Replica(kube, clock, "a"), new Replica(kube, clock, "b")];
    await leader.tick();
    kube.fault = "lost";
    await expect(leader.lock.release(signal)).rejects.toThrow("transient");
    kube.fault = "none";
    expect(await next.tick()).toBe(true);
    expect([leader.change(), next.change() === undefined]).toEqual([undefined, false]);
  });

  /** After each, all of them try to send a change. */
  type Step = {
    /** Whose turn it is; undefined: everybody's. */
    readonly who: number | undefined;
    readonly what: "tick" | "release" | "delete";
    readonly fault: Fault;
    readonly passMs: number;
  };
  const steps: fc.Arbitrary<Step> = fc.record({
    who: fc.constantFrom(undefined, 0, 1, 2),
    what: fc.constantFrom("tick", "tick", "tick", "tick", "tick", "tick", "release", "delete"),
    fault: fc.constantFrom("none", "refused", "lost"),
    passMs: fc.constantFrom(0, 1, 2000, DURATION_MS / 2, DURATION_MS, 2 * DURATION_MS),
  });

  test("let one process at a time send changes and number each above all before, whichever replica leads and whatever clocks and networks do", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 60, size: "max" }), async (history) => {
        const [kube, clock] = [new FaultyKube(), new FakeClock()];
        const replicas = [0, -3_600_000, 60_000].map((skewMs, index) => new Replica(kube, clock, `r${index}`, skewMs));
        // They have all seen the Lease, as replicas that stand by have.
        for (const { lock } of replicas) await lock.tryAcquireOrRenew(signal);
        const sent: (readonly bigint[])[] = [];
        for (const { who, what, fault, passMs } of history) {
          await clock.advance(passMs);
          // A Lease that is gone says nothing: all have seen it before, and see at once what comes after it.
          if (what === "delete") {
            for (const one of replicas) await one.tick();
            await kube.delete(LEASES, LOCK, { signal }).catch(() => undefined);
          }
          const turns = what === "delete" ? replicas : replicas.filter((_, index) => (who ?? index) === index);
          kube.fault = what === "delete" ? "none" : fault;
          for (const one of turns) {
            if (what === "release") await one.lock.release(signal).catch(() => undefined);
            else await one.tick();
          }
          kube.fault = "none";
          sent.push(replicas.map((one) => one.change() ?? 0n).filter((number) => number > 0n));
        }
        expect(sent.filter((atOnce) => atOnce.length > 1)).toEqual([]);
        expect(sent.flat()).toEqual([...new Set(sent.flat())].toSorted((a, b) => (a < b ? -1 : 1)));
      }),
      { numRuns: 200 },
    );
  });
});
