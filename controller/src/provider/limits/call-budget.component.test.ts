import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ensureInput } from "../../../test/support/provider/client-harness.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import { SimulatedCloud } from "../../../test/support/provider/simulated-cloud.ts";
import { sleep } from "../../util/abort.ts";
import { systemClock } from "../../util/clock.ts";
import type { Priority } from "../../util/semaphore.ts";
import { isOfClass } from "../model/errors.ts";
import type { ServiceRef } from "../model/load-balancer.ts";
import type { Sidecar } from "../sidecar.ts";

const WORKERS = 10;

let harness: ProviderHarness;
let cloud: SimulatedCloud | undefined;
beforeEach(async () => {
  harness = await ProviderHarness.create();
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
});

async function start(flags: readonly string[]): Promise<Sidecar> {
  cloud = await SimulatedCloud.start(harness.socketPath, flags);
  const sidecar = harness.connect();
  await harness.ready(sidecar);
  await expect.poll(() => sidecar.status?.ready, { timeout: 20_000 }).toBe(true);
  return sidecar;
}

const serviceOf = (index: number): ServiceRef => ({ namespace: "default", name: `web-${index}`, uid: `uid-${index}` });

const SPEC = {
  ...ensureInput().spec,
  ipFamilies: ["IPv4"],
  ports: [{ name: "http", port: 80, nodePort: 30_080, protocol: "TCP" }],
};

const ensureOf = (sidecar: Sidecar, index: number) => () =>
  sidecar.client.ensureLoadBalancer(
    { ...ensureInput(), service: serviceOf(index), spec: SPEC },
    { signal: harness.signal },
  );

const readOf = (sidecar: Sidecar, index: number, priority: Priority) => () =>
  sidecar.client.getLoadBalancer({ service: serviceOf(index), annotations: {} }, { signal: harness.signal, priority });

/** As the work queue does it: retries when requested, as often as requested. */
async function untilDone(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const outcome = await call().catch((error: unknown) => error);
    if (!(outcome instanceof Error)) return;
    if (!isOfClass(outcome, "WAIT")) throw outcome;
    await sleep(outcome.retryAfterMs ?? 1000, harness.signal, systemClock());
  }
}

/** All of them, so many at once. */
async function work(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const line = [...calls];
  const worker = async (): Promise<void> => {
    for (let call = line.shift(); call !== undefined; call = line.shift()) await untilDone(call);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

describe("a cloud that throttles", () => {
  test("is never made to by a provider that declares its rate", async () => {
    const sidecar = await start(["--cloud-call-rate=15:8"]);
    await cloud?.limitRate(20, 20);
    const requests = Array.from({ length: 12 }, (_, index) => [
      ensureOf(sidecar, index),
      readOf(sidecar, index, "low"),
    ]).flat();
    await work(requests);
    const { "429": throttled = 0, ...served } = (await cloud?.callsByStatus()) ?? {};
    expect(throttled).toBe(0);
    const calls = Object.values(served).reduce((sum, count) => sum + count, 0);
    expect(calls).toBeGreaterThanOrEqual(requests.length);
    expect(
      await harness.metrics.value("cloudwire_provider_throttle_pauses_total", { quota_class: "load_balancers" }),
    ).toBeUndefined();
  });

  test("is left in peace soon by a provider that does not, and carries everything out", async () => {
    const sidecar = await start([]);
    await cloud?.limitRate(10, 10);
    await work(Array.from({ length: 14 }, (_, index) => ensureOf(sidecar, index)));
    const { "429": throttled = 0 } = (await cloud?.callsByStatus()) ?? {};
    // One for each worker before the first answer says so, and a few when the speed is tried out again.
    expect(throttled).toBeGreaterThan(0);
    expect(throttled).toBeLessThanOrEqual(1.5 * WORKERS);
    const { items } = await sidecar.client.listLoadBalancers({ signal: harness.signal });
    expect(items).toHaveLength(14);
  });

  test("is asked for what is urgent first", async () => {
    const sidecar = await start(["--cloud-call-rate=16:2"]);
    const done: string[] = [];
    const noting = (name: string, call: () => Promise<unknown>) => untilDone(call).then(() => void done.push(name));
    const refreshes = Array.from({ length: 24 }, (_, index) => noting("refresh", readOf(sidecar, index, "low")));
    const deletions = [1, 2, 3].map((index) => {
      const ref = { service: serviceOf(index), annotations: {} };
      return noting("delete", () => sidecar.client.deleteLoadBalancer(ref, { signal: harness.signal }));
    });
    await Promise.all([...refreshes, ...deletions]);
    expect(done).toHaveLength(27);
    expect(done.lastIndexOf("delete")).toBeLessThan(12);
  });
});
