import { beforeEach, expect, test } from "vitest";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { info as providerInfo } from "../../../test/support/provider/provider-builders.ts";
import { ProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { ProviderStatus } from "../model/status.ts";
import { StatusWatch } from "./status-watch.ts";

const INFO = providerInfo({
  bootId: "boot-1",
  scopeId: "project-1",
  limits: { ...providerInfo().limits, minStatusIntervalMs: 0 },
});

const READY: ProviderStatus = {
  ready: true,
  bootId: "boot-1",
  scopeId: "project-1",
  configRevision: "",
  conditions: [],
  lastCloudSuccessTimeMs: undefined,
  credentialsExpireTimeMs: undefined,
  rateLimits: [],
  receivedAtMs: 0,
};
const AWAY = { ...READY, ready: false };
const SILENT = new ProviderError({ code: "DEADLINE_EXCEEDED", message: "no answer" });

let clock: FakeClock;
let answer: ProviderStatus | Error;
let askedAtMs: number[];
let reported: string[];
let watch: StatusWatch;

beforeEach(() => {
  clock = new FakeClock();
  answer = READY;
  askedAtMs = [];
  reported = [];
  watch = new StatusWatch({
    clock,
    log: { status: () => undefined, statusFailed: (_, failures) => void reported.push(`failed ${failures}`) },
    readyMs: 60_000,
    notReadyMs: 10_000,
    ask: async () => {
      askedAtMs.push(clock.monotonicMs());
      if (answer instanceof Error) throw answer;
      return answer;
    },
    onRecovered: ({ bootId }) => void reported.push(`recovered ${bootId}`),
    onOutdated: (why) => void reported.push(why),
    onSilent: () => void reported.push("silent"),
  });
});

/** Answers how to end it. */
async function run(info: ProviderInfo = INFO): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const running = watch.run(info, stop.signal);
  await settle();
  return async () => {
    stop.abort();
    await running;
  };
}

test("StatusWatch.run() asks a ready provider once a minute, and one that is not after 1, 2, 4, 8 and 10 seconds", async () => {
  const end = await run();
  await clock.advance(60_000);
  answer = AWAY;
  await clock.advance(95_000);
  expect(askedAtMs).toEqual([0, 60, 120, 121, 123, 127, 135, 145, 155].map((s) => s * 1000));
  answer = READY;
  await clock.advance(69_999);
  expect(askedAtMs.slice(9)).toEqual([165_000]);
  await end();
  expect(clock.timers).toBe(0);
});

test("StatusWatch.run() keeps to the interval that the provider asks for", async () => {
  answer = AWAY;
  const end = await run({ ...INFO, limits: { ...INFO.limits, minStatusIntervalMs: 5000 } });
  await clock.advance(18_000);
  expect(askedAtMs).toEqual([0, 5000, 10_000, 15_000]);
  await end();
});

test("StatusWatch.askSoon() has it asked at once, or as soon as the provider allows", async () => {
  const end = await run({ ...INFO, limits: { ...INFO.limits, minStatusIntervalMs: 5000 } });
  await clock.advance(20_000);
  watch.askSoon();
  await clock.advance(2000);
  watch.askSoon();
  await clock.advance(3000 + 60_000);
  expect(askedAtMs).toEqual([0, 20_000, 25_000, 85_000]);
  await end();
  expect(clock.timers).toBe(0);
});

test("StatusWatch.run() reports once that the cloud is usable again, across connections too", async () => {
  answer = AWAY;
  const end = await run();
  await end();
  expect([watch.last, reported]).toEqual([AWAY, []]);
  answer = READY;
  const endAgain = await run();
  await clock.advance(60_000);
  expect([watch.last, reported]).toEqual([READY, ["recovered boot-1"]]);
  await endAgain();
});

test.each([
  ["of another process", { bootId: "boot-2" }, ["the provider is another process than at the handshake"]],
  ["of another scope", { scopeId: "project-2" }, ["the provider works in another scope than at the handshake"]],
  ["without scope", { scopeId: "" }, []],
])("StatusWatch.run() evaluates a status %s", async (_, parts, expected) => {
  answer = { ...READY, ...parts };
  const end = await run();
  expect(reported).toEqual(expected);
  await end();
});

test.each([
  ["DEADLINE_EXCEEDED", ["failed 1", "failed 2", "silent"]],
  ["UNAVAILABLE", ["failed 1", "failed 2", "silent"]],
  ["INTERNAL", ["failed 1", "failed 2"]],
] as const)("StatusWatch.run() takes two calls that fail with %s as it should", async (code, expected) => {
  answer = new ProviderError({ code, message: "no answer" });
  const end = await run();
  await clock.advance(1000);
  expect([reported, watch.failures]).toEqual([expected, 2]);
  await end();
});

test("StatusWatch.failures = 0 restarts the count, and a failure alone makes the next status a recovery", async () => {
  answer = SILENT;
  const end = await run();
  expect(watch.failures).toBe(1);
  watch.failures = 0;
  expect(watch.failures).toBe(0);
  answer = READY;
  await clock.advance(1000);
  expect(reported).toEqual(["failed 1", "recovered boot-1"]);
  await end();
});

test("StatusWatch.run() counts nothing against a provider whose call was cut off by the end of the connection", async () => {
  const stop = new AbortController();
  answer = SILENT;
  const running = watch.run(INFO, stop.signal);
  stop.abort();
  await running;
  expect([reported, watch.failures]).toEqual([[], 0]);
});
