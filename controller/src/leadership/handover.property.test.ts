import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeKube } from "../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { DEFAULT_TIMINGS } from "../../test/support/kube/candidate.ts";
import { electionMetrics, LeaderElector } from "./elector.ts";
import { LEASES } from "./lease-lock.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { sleep } from "../util/abort.ts";
import { recordField } from "../util/json.ts";
import { HandoverAnnotation } from "./handover.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const TIMEOUT_MS = 60_000;
const DEFER_MS = 4400;
/** Kubelet starts a container again. */
const RESTART_MS = 1000;
const { retryPeriodMs, leaseDurationMs } = DEFAULT_TIMINGS;
const PROVIDERS = ["east", "west"] as const;
type ProviderName = (typeof PROVIDERS)[number];

interface Cluster {
  readonly kube: FakeKube;
  readonly clock: FakeClock;
  readonly random: () => number;
  /** Holds while the cluster exists. */
  readonly stop: AbortSignal;
}

/** One pod: a process that is started again whenever it ends, and its sidecars. */
class Pod {
  readonly name: string;
  readonly broken = new Set<ProviderName>();
  /** Says what is broken only when it is asked. */
  isLate = false;
  /** Identities under which it has led, in order. */
  readonly terms: string[] = [];
  readonly logs: FakeLog[] = [];
  readonly #cluster: Cluster;
  #elector: LeaderElector | undefined;

  constructor(name: string, cluster: Cluster) {
    this.name = name;
    this.#cluster = cluster;
  }

  get leading(): boolean {
    return this.#elector?.leading ?? false;
  }

  async run(): Promise<void> {
    const { clock, stop } = this.#cluster;
    for (let start = 0; !stop.aborted; start++) {
      await this.#process(`${this.name}_${start}`);
      await sleep(RESTART_MS, stop, clock).catch(() => undefined);
    }
  }

  async #process(identity: string): Promise<void> {
    const { kube, clock, random, stop } = this.#cluster;
    const ending = new AbortController();
    const log = new FakeLog();
    const { broken } = this;
    const isLate = (): boolean => this.isLate;
    let heard = { broken: new Set(broken), receivedAtMs: clock.nowMs() };
    const hear = (): void => {
      heard = { broken: new Set(broken), receivedAtMs: clock.nowMs() };
    };
    const annotation = new HandoverAnnotation({
      identity,
      providers: PROVIDERS.map((name) => ({
        name,
        get untrustedReason() {
          if (!isLate()) hear();
          return heard.broken.has(name) ? "the provider closed the connection" : undefined;
        },
        get status() {
          return heard;
        },
        askStatus: hear,
      })),
      timeoutMs: TIMEOUT_MS,
      deferMs: DEFER_MS,
      isWarm: () => true,
      clock,
      log,
      metrics: { requesting: () => undefined },
      onRequest: () => undefined,
      onHandover: () => ending.abort(new Error("leadership is handed over")),
    });
    const elector = new LeaderElector({
      client: kube,
      timings: DEFAULT_TIMINGS,
      lock: LOCK,
      identity,
      clock,
      random,
      log,
      events: { record: () => undefined },
      metrics: electionMetrics(new Metrics())(LOCK.name),
      annotations: annotation,
    });
    this.#elector = elector;
    this.logs.push(log);
    await elector.run(AbortSignal.any([stop, ending.signal]), async (lost) => {
      this.terms.push(identity);
      const ended = AbortSignal.any([lost, stop, ending.signal]);
      await new Promise<void>((resolve) => ended.addEventListener("abort", () => resolve()));
    });
  }
}

/** Two pods and time that passes. */
class World implements Disposable {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly pods: readonly [Pod, Pod];
  /** At one moment, ever. */
  mostLeaders = 0;
  readonly #stop = new AbortController();

  constructor(random: () => number) {
    const cluster = { kube: this.kube, clock: this.clock, random, stop: this.#stop.signal };
    this.pods = [new Pod("a", cluster), new Pod("b", cluster)];
    for (const pod of this.pods) void pod.run();
  }

  get terms(): number {
    return this.pods.reduce((sum, { terms }) => sum + terms.length, 0);
  }

  /** Names of the pods that lead. */
  get leaders(): readonly string[] {
    return this.pods.filter(({ leading }) => leading).map(({ name }) => name);
  }

  async pass(durationMs: number): Promise<void> {
    const STEP_MS = 500;
    for (let passedMs = 0; passedMs < durationMs; passedMs += STEP_MS) {
      await this.clock.advance(STEP_MS);
      this.mostLeaders = Math.max(this.mostLeaders, this.leaders.length);
    }
  }

  get annotations(): unknown {
    return recordField(recordField(this.kube.stored(LEASES, LOCK) ?? {}, "metadata"), "annotations");
  }

  [Symbol.dispose](): void {
    this.#stop.abort(new Error("the test ends"));
  }
}

/** One change: after so long, a provider of a pod breaks or is well again. */
const change = fc.record({
  afterMs: fc.integer({ min: 0, max: 100_000 }),
  pod: fc.constantFrom(0, 1),
  provider: fc.constantFrom(...PROVIDERS),
  breaks: fc.boolean(),
});

/** How long until the better replica leads: the bound, what a change on either side may have cut short, and two renewals. */
const SETTLED_MS = 2 * TIMEOUT_MS + leaseDurationMs + 4 * retryPeriodMs;

describe("two replicas whose providers come and go", () => {
  test("never lead both, change no oftener than the bound allows, and end with the better one", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 7, maxLength: 7 }),
        async (changes, randoms) => {
          let next = 0;
          using world = new World(() => randoms[next++ % randoms.length] ?? 0);
          await world.pass(2 * DEFER_MS + retryPeriodMs);
          const beganMs = world.clock.monotonicMs();
          for (const { afterMs, pod, provider, breaks } of changes) {
            await world.pass(afterMs);
            const { broken } = world.pods[pod === 0 ? 0 : 1];
            if (breaks) broken.add(provider);
            else broken.delete(provider);
          }
          await world.pass(SETTLED_MS);
          const lastedMs = world.clock.monotonicMs() - beganMs;
          expect(world.terms).toBeLessThanOrEqual(2 + Math.floor(lastedMs / TIMEOUT_MS));
          const [a, b] = world.pods;
          const better = [a, b].filter((pod) => isBetter(pod, pod === a ? b : a)).map(({ name }) => name);
          expect(world.leaders).toHaveLength(1);
          expect(better.length === 0 || better.join() === world.leaders.join()).toBe(true);

          // From here on nothing happens any more.
          const terms = world.terms;
          await world.pass(SETTLED_MS);
          expect(world.terms).toBe(terms);
          expect(world.mostLeaders).toBe(1);
        },
      ),
      { numRuns: 60, endOnFailure: true, timeout: 8000 },
    );
  }, 120_000);

  test("stay as they are when both have lost the provider", async () => {
    using world = new World(() => 0.5);
    await world.pass(1000);
    for (const { broken } of world.pods) broken.add("east");
    await world.pass(10 * TIMEOUT_MS);
    expect(world.terms).toBe(1);
    expect(world.leaders).toEqual(["a"]);
    expect(JSON.stringify(world.annotations)).toContain('\\"unavailableProviders\\":[\\"east\\"]');
  });

  test("stay as they are when both have lost the provider and one has not heard of it", async () => {
    using world = new World(() => 0.5);
    await world.pass(20_000);
    world.pods[1].isLate = true;
    for (const { broken } of world.pods) broken.add("east");
    await world.pass(10 * TIMEOUT_MS);
    expect(world.terms).toBe(1);
    expect(world.leaders).toEqual(["a"]);
  });

  test("change once, within the bound and a few seconds, and leave no note behind", async () => {
    using world = new World(() => 0.5);
    await world.pass(20_000);
    const [a, b] = world.pods;
    a.broken.add("west");
    await world.pass(TIMEOUT_MS - 1000);
    expect(world.leaders).toEqual(["a"]);
    await world.pass(1000 + 3 * retryPeriodMs);
    expect(world.leaders).toEqual(["b"]);
    await world.pass(10 * TIMEOUT_MS);
    a.broken.clear();
    await world.pass(10 * TIMEOUT_MS);
    expect([a.terms, b.terms]).toEqual([["a_0"], ["b_0"]]);
    expect(world.annotations).toEqual({});
    expect(b.logs[0]?.messages("info")).toContain("Became candidate for leadership");
    expect(a.logs[0]?.messages("warn")).toEqual(["Requested a leadership handover", "Handing over leadership"]);
  });
});

function isBetter(pod: Pod, other: Pod): boolean {
  return [...pod.broken].every((name) => other.broken.has(name)) && pod.broken.size < other.broken.size;
}
