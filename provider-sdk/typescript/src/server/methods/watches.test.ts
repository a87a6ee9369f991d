import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PassThrough } from "node:stream";
import { createLogger } from "../../telemetry/log.ts";
import { pump } from "../rpc/pump.ts";
import { CloudFetcher } from "../../cloud/cloud-fetch.ts";
import { createProviderIds } from "../convert/provider-ids.ts";
import { systemClock } from "../../util/clock.ts";
import { RuleChecker } from "@cloudwire/proto/rule-checker";
import type { ProviderRuntime } from "../runtime.ts";
import { serveWatch } from "./watches.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const runtimeWith = (draining: AbortSignal): ProviderRuntime => ({
  definition: { name: "acme.example.com", version: "1", idPrefix: "acme://", scope: "acct-1", check: () => undefined },
  bootId: "boot-1",
  ids: createProviderIds(["acme://"]),
  capabilities: { instances: undefined, loadBalancers: undefined, routes: undefined, volumes: undefined },
  limits: {
    maxConcurrentCalls: 64,
    maxReceiveBytes: 0n,
    maxInlineNodes: 0,
    softCallDuration: undefined,
    minStatusInterval: undefined,
    minResyncInterval: undefined,
    callRates: [],
  },
  rules: new RuleChecker(),
  scopeId: () => "acct-1",
  observe: () => undefined,
  cloudCalled: () => undefined,
  cloud: new CloudFetcher({ clock: systemClock, random: () => 0, transport: fetch }),
  draining,
  log: createLogger({ level: "error", write: () => undefined, now: () => new Date(0) }),
  nowMs: Date.now,
  clock: systemClock,
});

const callWith = (signal: AbortSignal) => ({
  method: "WatchInstances",
  mutation: false,
  requestId: "r-1",
  traceparent: undefined,
  signal,
  deadlineMs: Number.MAX_SAFE_INTEGER,
});

const request = { context: undefined, resumeToken: "t0", sendInitialEvents: false };

describe("serveWatch()", () => {
  const quietWatch = (drain: AbortSignal, caller: AbortSignal, ended: () => void) =>
    serveWatch(
      {
        runtime: runtimeWith(drain),
        async *watch(_opening, { signal }) {
          try {
            yield { kind: "bookmark", token: "t1" } as const;
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          } finally {
            ended();
          }
        },
        convert: () => ({ $case: "upsert" as const, value: {} }),
      },
      request,
      callWith(caller),
    );

  test("sends a heartbeat with the newest token when nothing happens for 20 s", async () => {
    const never = new AbortController().signal;
    const stream = quietWatch(never, never, () => undefined);
    expect((await stream.next()).value).toMatchObject({ event: { $case: "bookmark" }, resumeToken: "t1" });
    const second = stream.next();
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await second).value).toEqual({
      event: { $case: "bookmark", value: { initialEventsEnd: false } },
      resumeToken: "t1",
    });
    await stream.return(undefined);
  });

  test("ends with PROVIDER_DRAINING when the provider closes, and ends the feed", async () => {
    const drain = new AbortController();
    const ended = vi.fn();
    const stream = quietWatch(drain.signal, new AbortController().signal, ended);
    await stream.next();
    const next = stream.next();
    drain.abort();
    await expect(next).rejects.toMatchObject({ reason: "PROVIDER_DRAINING" });
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends the feed when the stream is returned in the middle", async () => {
    const never = new AbortController().signal;
    const ended = vi.fn();
    const stream = quietWatch(never, never, ended);
    await stream.next();
    await stream.return(undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toHaveBeenCalledOnce();
  });
});

describe("pump()", () => {
  test("gives up a reader that takes nothing for the time allowed", async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    async function* endless(): AsyncGenerator<Uint8Array> {
      while (true) yield Buffer.from("event");
    }
    const pumped = pump(endless, stream, new AbortController().signal, 30_000).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await pumped).toMatchObject({ reason: "SLOW_CONSUMER" });
    expect(vi.getTimerCount()).toBe(0);
    expect(stream.listenerCount("drain")).toBe(0);
  });
});
