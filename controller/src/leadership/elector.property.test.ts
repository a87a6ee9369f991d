import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_ANNOTATIONS } from "../../test/support/kube/candidate.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { apiError, FakeKube } from "../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { aborted, sleep } from "../util/abort.ts";
import type { CallOptions, KubeClient, ListWatcher } from "../kube/client.ts";
import { DEFAULT_TIMINGS } from "../../test/support/kube/candidate.ts";
import { electionMetrics, LeaderElector, type LeaderElectionTimings } from "./elector.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const PODS = ["a", "b", "c"] as const;
const RESTART_MS = 1000;
const STEP_MS = 250;
const CALL_MS = 30_000;
const { leaseDurationMs } = DEFAULT_TIMINGS;
/** The last leader tries as long as upstream accepts. */
const TIMINGS: readonly LeaderElectionTimings[] = [DEFAULT_TIMINGS, { ...DEFAULT_TIMINGS, renewDeadlineMs: 14_900 }];

/** How the API server looks from one pod. */
type Network = "well" | "refuses" | "hangs";

type Step =
  | { readonly kind: "network"; readonly pod: number; readonly network: Network }
  /** What a pod's watch shows comes so much later. */
  | { readonly kind: "delay"; readonly pod: number; readonly delayMs: number }
  /** Without a chance to release. */
  | { readonly kind: "kill"; readonly pod: number }
  | { readonly kind: "stop"; readonly pod: number }
  | { readonly kind: "pass"; readonly ms: number };

const pod = fc.nat(PODS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("network"),
      pod,
      network: fc.constantFrom<Network>("well", "well", "refuses", "hangs"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delay"), pod, delayMs: fc.constantFrom(0, 500, 20_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill"), pod }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stop"), pod }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.integer({ min: 1, max: 20_000 }) }) },
);

interface World {
  readonly kube: FakeKube;
  readonly clock: FakeClock;
  readonly random: () => number;
  readonly timings: LeaderElectionTimings;
}

/** One pod after the other process in it, each with an identity of its own. */
class Pod {
  network: Network = "well";
  watchDelayMs = 0;
  readonly #kube: FakeKube;
  readonly #clock: FakeClock;
  readonly #name: string;
  readonly #random: () => number;
  readonly #timings: LeaderElectionTimings;
  #elector: LeaderElector | undefined;
  #stop = new AbortController();
  #isKilled = false;

  constructor(name: string, { kube, clock, random, timings }: World) {
    this.#name = name;
    this.#kube = kube;
    this.#clock = clock;
    this.#random = random;
    this.#timings = timings;
  }

  get leading(): boolean {
    return !this.#isKilled && (this.#elector?.leading ?? false);
  }

  async run(end: AbortSignal): Promise<void> {
    for (let start = 0; !end.aborted; start++) {
      this.#stop = new AbortController();
      this.#isKilled = false;
      await this.#process(`${this.#name}_${start}`, AbortSignal.any([end, this.#stop.signal]));
      await sleep(RESTART_MS, end, this.#clock).catch(() => undefined);
    }
  }

  stop(): void {
    this.#stop.abort(new Error("SIGTERM"));
  }

  kill(): void {
    this.#isKilled = true;
    this.stop();
  }

  async #process(identity: string, stop: AbortSignal): Promise<void> {
    const elector = new LeaderElector({
      client: this.#client(),
      timings: this.#timings,
      lock: LOCK,
      identity,
      clock: this.#clock,
      random: this.#random,
      log: new FakeLog(),
      events: { record: () => undefined },
      metrics: electionMetrics(new Metrics())(LOCK.name),
      annotations: NO_ANNOTATIONS,
    });
    this.#elector = elector;
    await elector.run(stop, (lost) => aborted(AbortSignal.any([lost, stop])));
  }

  #client(): KubeClient & Pick<ListWatcher, "watch"> {
    const pass = async ({ signal, timeoutMs = CALL_MS }: CallOptions): Promise<void> => {
      if (this.network === "hangs") await sleep(timeoutMs, signal, clock).catch(() => undefined);
      if (this.network !== "well" || this.#isKilled) throw apiError("transient");
    };
    const kube = this.#kube;
    const clock = this.#clock;
    const delayMs = (): number => this.watchDelayMs;
    return {
      get: (resource, name, options) => pass(options).then(() => kube.get(resource, name, options)),
      create: (resource, namespace, body, options) =>
        pass(options).then(() => kube.create(resource, namespace, body, options)),
      update: (resource, name, body, options) => pass(options).then(() => kube.update(resource, name, body, options)),
      list: (resource, options) => kube.list(resource, options),
      patch: (resource, name, patch, options) => kube.patch(resource, name, patch, options),
      delete: (resource, name, options) => kube.delete(resource, name, options),
      async *watch(resource, options) {
        const call = { signal: options.signal, timeoutMs: options.idleTimeoutMs };
        await pass(call);
        for await (const event of kube.watch(resource, options)) {
          await sleep(delayMs(), options.signal, clock);
          await pass(call);
          yield event;
        }
      },
    };
  }
}

test("LeaderElector never leads twice whatever the network, the watches and the processes do, and one leads once they are well", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40, size: "max" }),
      fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 7, maxLength: 7 }),
      fc.constantFrom(...TIMINGS),
      async (steps, randoms, timings) => {
        let next = 0;
        const random = (): number => randoms[next++ % randoms.length] ?? 0;
        const kube = new FakeKube();
        const clock = new FakeClock();
        const end = new AbortController();
        const pods = PODS.map((name) => new Pod(name, { kube, clock, random, timings }));
        for (const each of pods) void each.run(end.signal);
        const leaders = (): number => pods.filter(({ leading }) => leading).length;
        let mostLeaders = 0;
        const pass = async (ms: number): Promise<void> => {
          for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
            await clock.advance(STEP_MS);
            mostLeaders = Math.max(mostLeaders, leaders());
          }
        };
        for (const each of steps) await take(each, { pods, pass });
        for (const each of pods) [each.network, each.watchDelayMs] = ["well", 0];
        // What still holds the lease has to run out; a request that hangs has to end; and a release may have failed.
        await pass(2 * leaseDurationMs + 2 * timings.renewDeadlineMs);
        expect([mostLeaders, leaders()]).toEqual([1, 1]);
        end.abort(new Error("the test ends"));
        await clock.advance(leaseDurationMs);
      },
    ),
    { numRuns: 150, endOnFailure: true },
  );
}, 60_000);

interface Cluster {
  readonly pods: readonly Pod[];
  readonly pass: (ms: number) => Promise<void>;
}

async function take(each: Step, { pods, pass }: Cluster): Promise<void> {
  const one = "pod" in each ? pods[each.pod] : undefined;
  switch (each.kind) {
    case "network":
      if (one !== undefined) one.network = each.network;
      return;
    case "delay":
      if (one !== undefined) one.watchDelayMs = each.delayMs;
      return;
    case "kill":
      return one?.kill();
    case "stop":
      return one?.stop();
    case "pass":
      return pass(each.ms);
  }
  each satisfies never;
}
