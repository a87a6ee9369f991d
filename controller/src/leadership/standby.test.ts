import { beforeEach, describe, expect, test } from "vitest";
import {
  type Candidate,
  candidate as candidateOf,
  type CandidateOptions,
  LOCK,
  NO_ANNOTATIONS,
} from "../../test/support/kube/candidate.ts";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { apiError, FakeKube } from "../../test/support/kube/fake-kube.ts";
import { DEFAULT_TIMINGS } from "../../test/support/kube/candidate.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import { LEASES } from "./lease-lock.ts";
import { recordField } from "../util/json.ts";

const { leaseDurationMs, retryPeriodMs } = DEFAULT_TIMINGS;
/** Longest pause of a standby that sees the lease come free, before it writes. */
const STAGGER_MS = 200;

let kube: FakeKube;
let clock: FakeClock;
beforeEach(() => {
  kube = new FakeKube();
  clock = new FakeClock();
});

const candidate = (identity: string, options: CandidateOptions = {}): Candidate =>
  candidateOf(kube, clock, identity, { random: 0.5, ...options });

/** The lease in the hands of a process that died after writing it. */
function seedDead(): void {
  const renewTime = "2026-11-21T12:00:00.000000Z";
  kube.seed(LEASES, { metadata: { ...LOCK }, spec: { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime } });
}

const holderIdentity = (): unknown => recordField(kube.stored(LEASES, LOCK) ?? {}, "spec")["holderIdentity"];

const verbs = (): readonly string[] => kube.calls.map(({ verb }) => verb);

describe("a standby that watches the Lease", () => {
  test("reads it once and sends no request while the leader renews", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b");
    await clock.advance(60_000);
    expect(verbs().filter((verb) => verb === "get")).toHaveLength(2);
    expect([a.elector.leading, b.elector.leading]).toEqual([true, false]);
  });

  test("leads as soon as the lease is released", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b", { random: 1 });
    await clock.advance(31_000);
    a.finish();
    await clock.advance(STAGGER_MS);
    expect(b.elector.leading).toBe(true);
    expect(holderIdentity()).toBe("b");
  });

  test("leads as soon as the last renewal is a lease old, and no earlier", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b");
    await clock.advance(7000);
    // Its last renewal was a second ago.
    kube.intercept = ({ body }) =>
      JSON.stringify(body ?? {}).includes('"holderIdentity":"a"') ? apiError("transient") : undefined;
    await clock.advance(6000 + leaseDurationMs - 7001);
    expect(b.ledAtMs()).toBeUndefined();
    await clock.advance(1 + STAGGER_MS);
    expect(b.ledAtMs()).toBe(6000 + leaseDurationMs + 0.5 * STAGGER_MS);
    expect(a.elector.leading).toBe(false);
  });

  test("leaves a deleted Lease to the leader", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b");
    await clock.advance(3000);
    await kube.delete(LEASES, LOCK, { signal: a.stop.signal });
    await clock.advance(60_000);
    expect([a.elector.leading, b.elector.leading]).toEqual([true, false]);
  });

  test("creates a deleted Lease after the leader is gone", async () => {
    seedDead();
    const b = candidate("b");
    await settle();
    await kube.delete(LEASES, LOCK, { signal: b.stop.signal });
    await clock.advance(leaseDurationMs + STAGGER_MS);
    expect(b.elector.leading).toBe(true);
  });

  test("tries again at the usual pace when the server fails just then", async () => {
    seedDead();
    const b = candidate("b", { random: 0 });
    await settle();
    kube.calls.length = 0;
    kube.intercept = () => apiError("transient");
    await clock.advance(leaseDurationMs + 10_000);
    expect(verbs()).toEqual(Array.from({ length: 6 }, () => "get"));
    kube.intercept = () => undefined;
    await clock.advance(retryPeriodMs);
    expect(b.elector.leading).toBe(true);
  });

  test("leads though the answer to its taking was lost, as soon as it sees the lease in its hands", async () => {
    seedDead();
    const b = candidate("b");
    await settle();
    const update = kube.update.bind(kube);
    kube.update = async (resource, name, body, options) => {
      kube.update = update;
      await update(resource, name, body, options);
      throw apiError("transient");
    };
    await clock.advance(leaseDurationMs + STAGGER_MS);
    expect([holderIdentity(), b.elector.leading]).toEqual(["b", false]);
    await clock.advance(2.2 * retryPeriodMs);
    expect(b.elector.leading).toBe(true);
  });

  test("is one of fifty of which one leads immediately, without an error", async () => {
    seedDead();
    const all = Array.from({ length: 50 }, (_, index) => candidate(`c${index}`, { random: index / 50 }));
    await settle();
    kube.calls.length = 0;
    await clock.advance(leaseDurationMs + STAGGER_MS);
    expect(all.filter(({ elector }) => elector.leading)).toHaveLength(1);
    // Only the first one's: the others saw it in time.
    expect(kube.writes).toHaveLength(1);
    expect(all.flatMap(({ log }) => log.lines.filter(({ level }) => level === "warn"))).toEqual([]);
  });

  test("does not wait for a dead watch: it reads the lease before it takes it", async () => {
    const a = candidate("a");
    await settle();
    kube.watch = async function* (_resource, { signal }) {
      yield { kind: "opened" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const b = candidate("b");
    await clock.advance(120_000);
    expect([a.elector.leading, b.elector.leading]).toEqual([true, false]);
    a.finish();
    await clock.advance(leaseDurationMs + STAGGER_MS);
    expect(b.elector.leading).toBe(true);
  });

  test("gives up a watch that has been silent for two leases", async () => {
    const idle: number[] = [];
    kube.watch = async function* (_resource, { signal, idleTimeoutMs }) {
      idle.push(idleTimeoutMs);
      yield { kind: "opened" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    seedDead();
    candidate("b");
    await settle();
    expect(idle).toEqual([2 * leaseDurationMs]);
  });

  test("leaves nothing behind once it leads or is stopped", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b");
    const c = candidate("c", { random: 0.9 });
    await clock.advance(5000);
    a.finish();
    await clock.advance(1000);
    expect(b.elector.leading).toBe(true);
    c.stop.abort();
    b.finish();
    await clock.advance(0);
    expect(clock.timers).toBe(0);
  });
});

describe("a standby that may not watch the Lease", () => {
  beforeEach(() => {
    kube.watchError = apiError("forbidden");
  });

  test("polls as client-go does, takes over within one poll of a release, and says so once", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b", { random: 0 });
    kube.calls.length = 0;
    await clock.advance(60_000);
    expect(verbs().filter((verb) => verb === "get")).toHaveLength(30);
    a.finish();
    await clock.advance(retryPeriodMs);
    expect(b.elector.leading).toBe(true);
    expect(b.log.lines.filter(({ message }) => message.startsWith("Could not watch the Lease; polling"))).toHaveLength(
      1,
    );
  });

  test("tries when the lease has run out and not a poll later", async () => {
    seedDead();
    const b = candidate("b", { random: 0.7 });
    await clock.advance(leaseDurationMs + STAGGER_MS);
    expect(b.ledAtMs()).toBe(leaseDurationMs + 0.7 * STAGGER_MS);
  });

  test("watches as soon as it may", async () => {
    const a = candidate("a");
    await settle();
    const b = candidate("b");
    await clock.advance(10_000);
    kube.watchError = undefined;
    await clock.advance(120_000);
    a.finish();
    await clock.advance(STAGGER_MS);
    expect(b.elector.leading).toBe(true);
  });
});

describe("a standby that lets others go first", () => {
  test("takes a free lease later, or at once when there is no reason left", async () => {
    let deferMs = 4400;
    const annotations: LeaseAnnotation = { ...NO_ANNOTATIONS, deferMs: () => deferMs };
    kube.seed(LEASES, { metadata: { ...LOCK }, spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    const patient = candidate("patient", { annotations });
    await clock.advance(4399);
    expect(patient.elector.leading).toBe(false);
    await clock.advance(1 + STAGGER_MS);
    expect(patient.elector.leading).toBe(true);
    patient.finish();
    await settle();

    const second = candidate("second", { annotations });
    await clock.advance(1000);
    deferMs = 0;
    await clock.advance(250 + STAGGER_MS);
    expect(second.elector.leading).toBe(true);
  });

  test("never defers the renewal of its own lease", async () => {
    let deferMs = 0;
    const a = candidate("a", { annotations: { ...NO_ANNOTATIONS, deferMs: () => deferMs } });
    await settle();
    deferMs = 60_000;
    // Another client wrote it: the slow path.
    kube.seed(LEASES, kube.stored(LEASES, LOCK) ?? {});
    await clock.advance(30_000);
    expect(a.elector.leading).toBe(true);
  });
});
