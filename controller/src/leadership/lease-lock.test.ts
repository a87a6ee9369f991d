import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { apiError, FakeKube } from "../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import type { ObjectName } from "../api/meta.ts";
import { raceAbort, sleep } from "../util/abort.ts";
import { type JsonRecord, recordField } from "../util/json.ts";
import type { WriteOptions } from "../kube/client.ts";
import { NO_ANNOTATIONS } from "../../test/support/kube/candidate.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import { LEASES, LeaseLock } from "./lease-lock.ts";
import type { Resource } from "../kube/resources/codec.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const ANSWER_MS = 6;
const { signal } = new AbortController();

/** Carries updates out at once and answers them later, or never. */
class SlowKube extends FakeKube {
  answer: "soon" | "never" = "soon";
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override async update<T>(
    resource: Resource<T>,
    name: ObjectName,
    body: JsonRecord,
    options: WriteOptions,
  ): Promise<T> {
    const answer = await super.update(resource, name, body, options);
    await raceAbort(sleep(ANSWER_MS, signal, this.#clock), options.signal);
    if (this.answer === "never") throw apiError("transient");
    return answer;
  }
}

let clock: FakeClock;
let kube: SlowKube;
beforeEach(() => {
  clock = new FakeClock();
  kube = new SlowKube(clock);
});

function lockOf(identity: string, { leaseDurationMs = 15_000, annotations = NO_ANNOTATIONS } = {}): LeaseLock {
  return new LeaseLock({
    client: kube,
    lock: LOCK,
    identity,
    timeoutMs: 1000,
    leaseDurationMs,
    clock,
    log: new FakeLog(),
    annotations,
    onSlowPath: () => undefined,
  });
}

const spec = () => recordField(kube.stored(LEASES, LOCK) ?? {}, "spec");

/** Runs `work` while time passes. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  await clock.advance(5 * ANSWER_MS);
  return await work;
}

describe("LeaseLock.tryAcquireOrRenew()", () => {
  test.each([
    [15_000, 15],
    [15_900, 16],
    [500, 1],
  ])("writes a duration of %i ms as %i s, never less than it counts on", async (leaseDurationMs, seconds) => {
    await lockOf("a", { leaseDurationMs }).tryAcquireOrRenew(signal);
    expect(spec()["leaseDurationSeconds"]).toBe(seconds);
  });

  test("says until when it holds from when the write was sent, and nothing of a lease of another", async () => {
    const [a, b] = [lockOf("a"), lockOf("b")];
    await a.tryAcquireOrRenew(signal);
    await b.tryAcquireOrRenew(signal);
    await clock.advance(2000);
    expect(await inTime(a.tryAcquireOrRenew(signal))).toBe(true);
    expect([a.heldUntilMs, b.heldUntilMs]).toEqual([17_000, Number.NEGATIVE_INFINITY]);
  });
});

describe("LeaseLock.release()", () => {
  const renewed = async (annotations: LeaseAnnotation = NO_ANNOTATIONS): Promise<LeaseLock> => {
    const lock = lockOf("a", { annotations });
    await lock.tryAcquireOrRenew(signal);
    return lock;
  };

  test("gives up the lease though a renewal was cut off that had arrived", async () => {
    const lock = await renewed();
    const leading = new AbortController();
    const renewal = lock.tryAcquireOrRenew(leading.signal);
    await settle();
    leading.abort();
    expect(await inTime(lock.release(signal))).toBe(true);
    await renewal;
    expect(spec()["holderIdentity"]).toBe("");
    expect(clock.timers).toBe(0);
  });

  test("gives up the lease though the last renewal was never answered", async () => {
    let holderIdentity = "";
    const annotations: LeaseAnnotation = {
      read: (_, by) => void (holderIdentity = by),
      write: () => ({ "written-by": holderIdentity }),
    };
    const lock = await renewed(annotations);
    const leading = new AbortController();
    kube.answer = "never";
    kube.get = () => Promise.reject(apiError("transient"));
    expect(await inTime(lock.tryAcquireOrRenew(leading.signal))).toBe(false);
    kube.answer = "soon";
    Reflect.deleteProperty(kube, "get");
    expect(await inTime(lock.release(signal))).toBe(true);
    expect(spec()["holderIdentity"]).toBe("");
    // The annotations from before the release, not after it.
    expect(kube.stored(LEASES, LOCK)).toMatchObject({ metadata: { annotations: { "written-by": "a" } } });
  });

  test("leaves alone what another has taken meanwhile", async () => {
    const lock = await renewed();
    kube.seed(LEASES, { metadata: { ...LOCK }, spec: { holderIdentity: "b", leaseDurationSeconds: 15 } });
    expect(await inTime(lock.release(signal))).toBe(false);
    expect(spec()["holderIdentity"]).toBe("b");
  });
});

describe("LeaseLock.propose()", () => {
  test("does not bring back with a late answer what has changed since", async () => {
    const leader = lockOf("a");
    await leader.tryAcquireOrRenew(signal);
    const annotations: LeaseAnnotation = { ...NO_ANNOTATIONS, propose: () => ({ offered: "b" }) };
    const lock = lockOf("b", { annotations });
    await lock.tryAcquireOrRenew(signal);
    const proposal = lock.propose(signal);
    await settle();
    const metadata = recordField(kube.stored(LEASES, LOCK) ?? {}, "metadata");
    kube.seed(LEASES, { metadata, spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    lock.observe(await kube.get(LEASES, LOCK, { signal }));
    await inTime(proposal);
    expect(lock.holderIdentity).toBe("");
  });
});
