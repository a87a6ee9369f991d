import { describe, expect, test } from "vitest";
import { candidate, LOCK } from "../../test/support/kube/candidate.ts";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { apiError, FakeKube } from "../../test/support/kube/fake-kube.ts";
import { sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { recordField } from "../util/json.ts";
import { DEFAULT_TIMINGS } from "../../test/support/kube/candidate.ts";
import { LEASES } from "./lease-lock.ts";

const spec = (kube: FakeKube): unknown => recordField(kube.stored(LEASES, LOCK) ?? {}, "spec");

describe("LeaderElector on a free Lease", () => {
  test("creates it in the format the API server wants and leads at once", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    expect(a.elector.leading).toBe(true);
    expect(spec(kube)).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-11-21T12:00:00.000000Z",
      renewTime: "2026-11-21T12:00:00.000000Z",
      leaseTransitions: 0,
    });
    expect(a.events.map(({ reason, message, regarding }) => [reason, message, regarding.kind, regarding.name])).toEqual(
      [["LeaderElection", "a became leader", "Lease", "cloud-controller-manager"]],
    );
    expect(await a.metrics.value("leader_election_master_status", { name: LOCK.name })).toBe(1);
    a.finish();
    expect(await a.end).toBe("stopped");
  });

  test("renews every two seconds with one request each", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.calls.length = 0;
    await clock.advance(6000);
    expect(kube.calls.map(({ verb }) => verb)).toEqual(["update", "update", "update"]);
    expect(spec(kube)).toMatchObject({
      acquireTime: "2026-11-21T12:00:00.000000Z",
      renewTime: "2026-11-21T12:00:06.000000Z",
    });
    a.finish();
    await a.end;
    expect(clock.timers).toBe(0);
  });
});

describe("LeaderElector.renewSoon()", () => {
  test("renews ahead of its time, once for all that ask at about the same time, and then as ever", async () => {
    const [kube, clock] = [new FakeKube(), new FakeClock()];
    const a = candidate(kube, clock, "a");
    await clock.advance(1000);
    const atMs: number[] = [];
    kube.intercept = () => void atMs.push(clock.monotonicMs());
    for (let times = 0; times < 10; times++) {
      a.elector.renewSoon();
      await clock.advance(10);
    }
    await clock.advance(4900);
    expect(atMs).toEqual([1200, 3200, 5200]);
    a.finish();
    expect(await a.end).toBe("stopped");
    expect(clock.timers).toBe(0);
  });
});

describe("LeaderElector on a lease held by another", () => {
  test("waits a whole lease by its own clock though the record is old, then counts the transition", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    kube.seed(LEASES, {
      metadata: { ...LOCK, uid: "u", labels: { keep: "me" } },
      spec: {
        holderIdentity: "dead",
        leaseDurationSeconds: 15,
        acquireTime: "2020-01-01T00:00:00.000000Z",
        renewTime: "2020-01-01T00:00:00.000000Z",
        leaseTransitions: 4,
        strategy: "OldestEmulationVersion",
      },
    });
    const b = candidate(kube, clock, "b");
    await clock.advance(14_999);
    expect(b.elector.leading).toBe(false);
    await clock.advance(2000);
    expect(b.elector.leading).toBe(true);
    expect(spec(kube)).toMatchObject({ holderIdentity: "b", leaseTransitions: 5, strategy: "OldestEmulationVersion" });
    expect(kube.stored(LEASES, LOCK)).toMatchObject({ metadata: { labels: { keep: "me" } } });
    b.finish();
    await b.end;
  });

  test("never leads while the other renews, and takes over within one retry of a release", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    const b = candidate(kube, clock, "b");
    await clock.advance(60_000);
    expect([a.elector.leading, b.elector.leading]).toEqual([true, false]);
    a.finish();
    expect(await a.end).toBe("stopped");
    expect(spec(kube)).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await clock.advance(DEFAULT_TIMINGS.retryPeriodMs);
    expect(b.elector.leading).toBe(true);
    expect(a.events.map(({ message }) => message)).toEqual(["a became leader", "a stopped leading"]);
    b.finish();
    await b.end;
  });

  test("stops waiting on request and touches nothing", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    const b = candidate(kube, clock, "b");
    await settle();
    b.stop.abort();
    expect(await b.end).toBe("stopped");
    expect(spec(kube)).toMatchObject({ holderIdentity: "a" });
    a.finish();
    await a.end;
    expect(clock.timers).toBe(0);
  });
});

describe("LeaderElector that cannot renew", () => {
  test("keeps leading through a short outage", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.intercept = () => apiError("transient");
    await clock.advance(9000);
    kube.intercept = () => undefined;
    await clock.advance(4000);
    expect(a.elector.leading).toBe(true);
    a.finish();
    expect(await a.end).toBe("stopped");
  });

  test("stops leading before the lease ends, also when requests hang instead of failing", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.intercept = () => new Promise((resolve) => clock.schedule(600_000, resolve));
    await clock.advance(DEFAULT_TIMINGS.leaseDurationMs - 1);
    expect(a.elector.leading).toBe(false);
    expect(await a.end).toBe("lost");
    expect(a.lostReason()).toMatchObject({ code: "LEADERSHIP_LOST" });
    expect(await a.metrics.value("leader_election_master_status", { name: LOCK.name })).toBe(0);
  });

  test("stops leading before the lease ends though its client heeds no signal and no deadline", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.update = () => new Promise(() => undefined);
    await clock.advance(DEFAULT_TIMINGS.leaseDurationMs - 1);
    expect(a.elector.leading).toBe(false);
    expect(await a.end).toBe("lost");
    expect(clock.timers).toBe(0);
  });

  test("ends on request though its client heeds no signal, be it while acquiring or while releasing", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.get = () => new Promise(() => undefined);
    kube.update = () => new Promise(() => undefined);
    const b = candidate(kube, clock, "b");
    await settle();
    b.stop.abort();
    expect(await b.end).toBe("stopped");
    a.finish();
    await clock.advance(DEFAULT_TIMINGS.renewDeadlineMs);
    expect(await a.end).toBe("stopped");
    // Until then it waits for the answer to what it has sent.
    await clock.advance(1000);
    expect(clock.timers).toBe(0);
  });

  test("stops leading at once when another holds the lease", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.seed(LEASES, {
      metadata: { ...LOCK },
      spec: { holderIdentity: "thief", leaseDurationSeconds: 15, renewTime: "2026-11-21T12:00:01.000000Z" },
    });
    await clock.advance(DEFAULT_TIMINGS.retryPeriodMs);
    expect(await a.end).toBe("lost");
    expect(a.lostReason()).toMatchObject({ message: "the lease was taken by thief" });
    expect(spec(kube)).toMatchObject({ holderIdentity: "thief" });
  });

  test("goes on after a conflict of its own making", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    kube.seed(LEASES, kube.stored(LEASES, LOCK) ?? {});
    await clock.advance(DEFAULT_TIMINGS.retryPeriodMs);
    expect(a.elector.leading).toBe(true);
    expect(await a.metrics.value("leader_election_slowpath_total", { name: LOCK.name })).toBe(1);
    a.finish();
    await a.end;
  });
});

describe("LeaderElector whose lease runs out", () => {
  test.each([
    [15_000, 14_000, 2000],
    [15_900, 15_500, 2000],
    [2500, 2450, 2000],
    [900, 800, 600],
  ])(
    "stops leading before another may take it, at %i/%i/%i ms",
    async (leaseDurationMs, renewDeadlineMs, retryPeriodMs) => {
      const kube = new FakeKube();
      const clock = new FakeClock();
      const timings = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
      const a = candidate(kube, clock, "a", { timings });
      await settle();
      const b = candidate(kube, clock, "b", { timings });
      await clock.advance(10 * retryPeriodMs + 1);
      kube.intercept = ({ body }) =>
        JSON.stringify(body ?? {}).includes('"holderIdentity":"a"') ? apiError("transient") : undefined;
      const seen = new Set<string>();
      for (let passedMs = 0; passedMs < 3 * leaseDurationMs; passedMs += 10) {
        await clock.advance(10);
        seen.add([a, b].flatMap(({ elector }, index) => (elector.leading ? ["ab"[index]] : [])).join("+"));
      }
      expect([...seen]).toEqual(["a", "", "b"]);
      expect(await a.end).toBe("lost");
      b.finish();
      await b.end;
    },
  );

  /** Its process can stand still: time has passed when it goes on, and no timer has fired. */
  const withStandstill = () => {
    const clock = new FakeClock();
    let stoodMs = 0;
    const own: Clock = {
      nowMs: () => clock.nowMs() + stoodMs,
      monotonicMs: () => clock.monotonicMs() + stoodMs,
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    };
    return { clock, own, standStill: (forMs: number) => (stoodMs += forMs) };
  };

  test("does not lead on when it wakes up after that", async () => {
    const kube = new FakeKube();
    const { clock, own, standStill } = withStandstill();
    const a = candidate(kube, own, "a");
    await clock.advance(1000);
    standStill(DEFAULT_TIMINGS.leaseDurationMs);
    kube.calls.length = 0;
    await clock.advance(1000);
    expect(await a.end).toBe("lost");
    expect(a.lostReason()).toMatchObject({ code: "LEADERSHIP_LOST" });
    expect(kube.calls).toEqual([]);
  });

  test("takes an answer that is older than the lease for none", async () => {
    const kube = new FakeKube();
    const { clock, own, standStill } = withStandstill();
    const a = candidate(kube, own, "a");
    await clock.advance(1000);
    kube.intercept = () => sleep(100, a.stop.signal, clock);
    await clock.advance(1000);
    standStill(DEFAULT_TIMINGS.leaseDurationMs);
    await clock.advance(100);
    kube.intercept = () => undefined;
    await clock.advance(DEFAULT_TIMINGS.renewDeadlineMs);
    expect(await a.end).toBe("lost");
  });

  test("does not begin to lead with such an answer", async () => {
    const kube = new FakeKube();
    const { clock, own, standStill } = withStandstill();
    kube.intercept = ({ verb }) => (verb === "create" ? sleep(100, new AbortController().signal, clock) : undefined);
    const a = candidate(kube, own, "a");
    await settle();
    standStill(DEFAULT_TIMINGS.leaseDurationMs);
    await clock.advance(100);
    expect(a.elector.leading).toBe(false);
    await clock.advance(2 * DEFAULT_TIMINGS.retryPeriodMs);
    expect(a.elector.leading).toBe(true);
    a.finish();
    expect(await a.end).toBe("stopped");
  });
});

describe("LeaderElector.run()", () => {
  test.each(["as it takes the lease", "as it renews it"])("releases when it is stopped %s", async (when) => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    kube.seed(LEASES, { metadata: { ...LOCK }, spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    // Each write is carried out at once and answered later, unless no caller waits for the answer.
    const update = kube.update.bind(kube);
    kube.update = async (resource, name, body, options) => {
      const answer = await update(resource, name, body, options);
      await sleep(6, options.signal, clock);
      return answer;
    };
    const a = candidate(kube, clock, "a");
    await clock.advance(when === "as it takes the lease" ? 3 : DEFAULT_TIMINGS.retryPeriodMs + 9);
    expect(spec(kube)).toMatchObject({ holderIdentity: "a" });
    a.stop.abort();
    a.finish();
    await clock.advance(100);
    expect(await a.end).toBe("stopped");
    expect(spec(kube)).toMatchObject({ holderIdentity: "" });
    expect(clock.timers).toBe(0);
  });

  test("acquires nothing when it is stopped while it reads", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    kube.seed(LEASES, { metadata: { ...LOCK }, spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    kube.intercept = () => sleep(6, new AbortController().signal, clock);
    const a = candidate(kube, clock, "a");
    await settle();
    a.stop.abort();
    await clock.advance(100);
    expect(await a.end).toBe("stopped");
    expect(kube.writes).toEqual([]);
  });

  test("keeps renewing until what was led has ended, then releases", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a");
    await settle();
    a.stop.abort();
    await clock.advance(30_000);
    expect(a.elector.leading).toBe(true);
    expect(spec(kube)).toMatchObject({ holderIdentity: "a", renewTime: "2026-11-21T12:00:30.000000Z" });
    a.finish();
    expect(await a.end).toBe("stopped");
    expect(spec(kube)).toMatchObject({ holderIdentity: "" });
  });
});

describe("LeaderElector.unhealthy()", () => {
  const BOUND_MS = DEFAULT_TIMINGS.leaseDurationMs + 20_000;

  test("says how old the last renewal is when what is led goes on for 20 s beyond the lease", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const a = candidate(kube, clock, "a", { hearing: "deaf" });
    await settle();
    kube.intercept = () => apiError("transient");
    await clock.advance(BOUND_MS);
    expect(a.elector.unhealthy()).toBeUndefined();
    await clock.advance(1);
    expect(a.elector.unhealthy()).toBe("lease kube-system/cloud-controller-manager was last renewed 35 s ago");
    a.finish();
    expect(await a.end).toBe("lost");
    expect(a.elector.unhealthy()).toBeUndefined();
  });

  test("is undefined for a leader that renews and for a standby, however long", async () => {
    const kube = new FakeKube();
    const clock = new FakeClock();
    const [a, b] = [candidate(kube, clock, "a"), candidate(kube, clock, "b")];
    await clock.advance(2 * BOUND_MS);
    expect([a, b].map(({ elector }) => [elector.leading, elector.unhealthy()])).toEqual([
      [true, undefined],
      [false, undefined],
    ]);
    for (const { stop, finish } of [a, b]) {
      stop.abort();
      finish();
    }
    expect(await Promise.all([a.end, b.end])).toEqual(["stopped", "stopped"]);
  });
});
