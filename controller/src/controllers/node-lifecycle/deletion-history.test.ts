import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { apiError, FakeKube } from "../../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { DeletionHistory, LeaseDeletions } from "./deletion-history.ts";
import { LEASES, LeaseLock } from "../../leadership/lease-lock.ts";
import type { Clock } from "../../util/clock.ts";
import { recordField } from "../../util/json.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const KEY = "deletions.cloudwire.dev/east";
const DURATION_MS = 15_000;
const WINDOW_MS = 600_000;
/** By which the steps of ages and the renewals in between may make it longer. */
const LONGER_MS = 10_000;
const YEAR_MS = 365 * 86_400_000;
const { signal } = new AbortController();

let kube: FakeKube;
let clock: FakeClock;
beforeEach(() => {
  kube = new FakeKube();
  clock = new FakeClock();
});

/** One process: its clocks, its candidate for the lease and what it knows of deletions. */
class Replica {
  readonly deletions: DeletionHistory;
  readonly lock: LeaseLock;
  readonly log = new FakeLog();
  /** Announcements that were reported of. */
  asked = 0;

  constructor(identity: string, skewMs = 0) {
    const startedMs = clock.monotonicMs();
    const own: Clock = {
      nowMs: () => clock.nowMs() + skewMs,
      monotonicMs: () => clock.monotonicMs() - startedMs,
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    };
    const { log } = this;
    this.deletions = new DeletionHistory({ clock: own, log });
    const annotation = new LeaseDeletions(this.deletions, identity, (provider) => provider !== "observed");
    annotation.keptOn(() => void this.asked++);
    this.lock = new LeaseLock({
      client: kube,
      lock: LOCK,
      identity,
      timeoutMs: 1000,
      leaseDurationMs: DURATION_MS,
      clock: own,
      log,
      annotations: annotation,
      onSlowPath: () => undefined,
    });
  }

  tick(): Promise<boolean> {
    return this.lock.tryAcquireOrRenew(signal);
  }

  /** Leads from now on, the client that led before and has died. */
  async takeOver(): Promise<this> {
    for (let tries = 0; tries < 20; tries++) {
      if (await this.tick()) return this;
      await clock.advance(DURATION_MS / 10);
    }
    throw new Error("the lease cannot be had");
  }

  async deletes(count: number, provider = "east"): Promise<void> {
    const announced = Array.from({ length: count }, () => this.deletions.announce(provider, signal));
    await this.tick();
    for (const announcement of await Promise.all(announced)) {
      this.deletions.deleted(provider);
      announcement[Symbol.dispose]();
    }
  }

  count(provider = "east"): number | "unknown" {
    const { count, isUnknown } = this.deletions.count(provider);
    return isUnknown ? "unknown" : count;
  }
}

const annotations = () => recordField(recordField(kube.stored(LEASES, LOCK) ?? {}, "metadata"), "annotations");

/** As kubectl does it. */
async function annotate(text: string | null, key = KEY): Promise<void> {
  const body = { metadata: { annotations: { [key]: text } } };
  await kube.patch(LEASES, LOCK, { kind: "merge", body }, { signal });
}

describe("LeaseDeletions on a lease", () => {
  test("say nothing while nothing counts", async () => {
    const leader = new Replica("a");
    await leader.tick();
    expect(annotations()).toEqual({});
    await leader.deletes(2);
    expect(JSON.parse(String(annotations()[KEY]))).toEqual({ time: "2026-11-21T12:00:00.000Z", secondsAgo: { 0: 2 } });
    await clock.advance(WINDOW_MS);
    await leader.tick();
    expect(annotations()).toEqual({});
  });

  test("are there before a Node goes, however long the Lease cannot be written", async () => {
    const leader = await new Replica("a").takeOver();
    kube.intercept = () => apiError("transient");
    let isNoted = false;
    const announced = leader.deletions.announce("east", signal).then((own) => {
      isNoted = true;
      return own;
    });
    await clock.advance(2000);
    await leader.tick();
    expect([isNoted, leader.asked]).toEqual([false, 1]);
    kube.intercept = () => undefined;
    await leader.tick();
    using _own = await announced;
    expect(JSON.parse(String(annotations()[KEY])).secondsAgo).toEqual({ 0: 1 });
    // It has not gone yet, and may not go.
    expect(leader.count()).toBe(0);
  });

  test("are there for those alone that the write reports of, though its answer comes late", async () => {
    const leader = await new Replica("a").takeOver();
    const [held, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    kube.intercept = () => held.promise;
    const order: string[] = [];
    const announce = async (name: string) => {
      using _own = await leader.deletions.announce("east", signal);
      order.push(name);
      await answer.promise;
    };
    const all = [announce("first")];
    const written = leader.tick();
    await settle();
    all.push(announce("second"));
    held.resolve();
    await written;
    await settle();
    expect(order).toEqual(["first"]);
    await leader.tick();
    await settle();
    expect(order).toEqual(["first", "second"]);
    answer.resolve();
    await Promise.all(all);
  });

  test("are not there by the answer to a write before", async () => {
    const { deletions } = new Replica("a");
    let noted = 0;
    const announce = () => void deletions.announce("east", signal).then(() => (noted += 1));
    announce();
    const before = deletions.annotationOf("east") ?? "";
    announce();
    const after = deletions.annotationOf("east") ?? "";
    deletions.recorded("east", before);
    await settle();
    expect(noted).toBe(0);
    deletions.recorded("east", after);
    await settle();
    expect(noted).toBe(2);
  });

  test.each([[-10 * YEAR_MS], [-3_600_000], [-1000], [0], [1000], [3_600_000], [10 * YEAR_MS]])(
    "make a leader whose clock is ahead by %i ms count for ten minutes what the one before deleted",
    async (skewMs) => {
      const first = await new Replica("a").takeOver();
      await first.deletes(2);
      await clock.advance(200_000);
      await first.deletes(3);
      const second = await new Replica("b", skewMs).takeOver();
      expect(second.count()).toBe(5);
      await second.deletes(1);
      const third = await new Replica("c").takeOver();
      expect(third.count()).toBe(6);
      const passedMs = clock.monotonicMs() - 200_000;
      await clock.advance(WINDOW_MS - 200_000 - passedMs - 1);
      expect(third.count()).toBe(6);
      await clock.advance(LONGER_MS);
      expect(third.count()).toBe(4);
      await clock.advance(200_000);
      expect(third.count()).toBe(1);
      await clock.advance(WINDOW_MS);
      expect(third.count()).toBe(0);
      await third.tick();
      expect(annotations()).toEqual({});
    },
  );

  test("are of one provider each, also of one that the next leader does not have", async () => {
    const first = await new Replica("a").takeOver();
    await first.deletes(2);
    await first.deletes(3, "west");
    const second = await new Replica("b").takeOver();
    expect([second.count(), second.count("west")]).toEqual([2, 3]);
    await second.tick();
    expect(Object.keys(annotations()).toSorted()).toEqual([KEY, "deletions.cloudwire.dev/west"]);
  });

  test("are not waited for where Nodes are only planned to go", async () => {
    const leader = await new Replica("a").takeOver();
    using _own = await leader.deletions.announce("observed", signal);
    await leader.tick();
    expect([leader.asked, annotations()]).toEqual([0, {}]);
  });

  test("count once for a process that lost the lease and has it again", async () => {
    const first = await new Replica("a").takeOver();
    await first.deletes(2);
    const second = await new Replica("b").takeOver();
    await second.deletes(1);
    await second.lock.release(signal);
    await first.takeOver();
    expect([first.lock.holderIdentity, first.count()]).toEqual(["a", 3]);
    await first.lock.release(signal);
    await first.takeOver();
    expect(first.count()).toBe(3);
  });

  test("grow older for a standby though no one writes them, and stay when the lease is deleted", async () => {
    const leader = await new Replica("a").takeOver();
    const standby = new Replica("b");
    await leader.deletes(2);
    await standby.tick();
    await clock.advance(WINDOW_MS - 1);
    await standby.lock.propose(signal);
    expect(standby.count()).toBe(2);
    await kube.delete(LEASES, LOCK, { signal });
    await standby.tick();
    expect(annotations()).toHaveProperty([KEY]);
    await clock.advance(1);
    expect(standby.count()).toBe(0);
  });

  test.each([["yes"], ["{}"], ["x".repeat(20_000)], ['{"time":"","secondsAgo":{"0":-7}}'], [""]])(
    "that cannot be read (%j) hold all for ten minutes, over changes of the leader, and are reported",
    async (text) => {
      const first = await new Replica("a").takeOver();
      await first.lock.release(signal);
      await annotate(text);
      const second = await new Replica("b").takeOver();
      await second.tick();
      expect(second.count()).toBe("unknown");
      expect(second.log.messages("error")).toHaveLength(1);
      await clock.advance(300_000);
      await second.tick();
      const third = await new Replica("c").takeOver();
      expect([third.count(), third.log.messages("error")]).toEqual(["unknown", []]);
      await clock.advance(300_000);
      expect(third.count()).toBe(0);
    },
  );

  test("that another client writes do not count while there is a leader, which puts them right", async () => {
    const leader = await new Replica("a").takeOver();
    await leader.deletes(2);
    for (const text of ["yes", null, '{"time":"","secondsAgo":{"0":700}}']) {
      await annotate(text);
      expect(await leader.tick()).toBe(true);
      expect([leader.count(), JSON.parse(String(annotations()[KEY])).secondsAgo]).toEqual([2, { 0: 2 }]);
    }
    expect(leader.log.messages("error")).toEqual([]);
  });

  test("freeze nothing for ever, whatever is written there", async () => {
    const first = await new Replica("a").takeOver();
    await first.lock.release(signal);
    await annotate('{"time":"2999-01-01T00:00:00Z","secondsAgo":{"0":1000000},"unknownSecondsAgo":0}');
    const second = await new Replica("b").takeOver();
    expect(second.count()).toBe("unknown");
    await clock.advance(WINDOW_MS);
    await second.tick();
    expect([second.count(), annotations()]).toEqual([0, {}]);
  });
});

/** One thing that a leader does, or that befalls it. */
interface Step {
  readonly deletes: number;
  readonly passMs: number;
  /** It dies, and one with such a clock comes after it. */
  readonly nextSkewMs: number | undefined;
}

test("LeaseDeletions let no leader count fewer than went within ten minutes, nor any that went long before", async () => {
  const step: fc.Arbitrary<Step> = fc.record({
    deletes: fc.nat(3),
    passMs: fc.constantFrom(0, 100, 2000, 7000, 60_000, 299_000),
    nextSkewMs: fc.constantFrom(undefined, undefined, undefined, 0, -3_600_000, 3_600_000, -YEAR_MS, YEAR_MS),
  });
  let counted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (history) => {
      [kube, clock] = [new FakeKube(), new FakeClock()];
      let [leader, changes] = [await new Replica("r0").takeOver(), 0];
      const wentMs: number[] = [];
      const since = (agoMs: number) => wentMs.filter((atMs) => atMs > clock.monotonicMs() - agoMs).length;
      for (const { deletes, passMs, nextSkewMs } of history) {
        await leader.deletes(deletes);
        wentMs.push(...Array.from({ length: deletes }, () => clock.monotonicMs()));
        await clock.advance(passMs);
        if (nextSkewMs !== undefined) leader = await new Replica(`r${++changes}`, nextSkewMs).takeOver();
        else await leader.tick();
        const count = Number(leader.count());
        expect(count).toBeGreaterThanOrEqual(since(WINDOW_MS));
        // Each change may cost a step, and the time since the last renewal.
        expect(count).toBeLessThanOrEqual(since(WINDOW_MS + changes * (5000 + 299_000 + DURATION_MS)));
        counted += count;
      }
    }),
    { numRuns: 50 },
  );
  expect(counted).toBeGreaterThan(0);
}, 60_000);
