import { describe, expect, test } from "vitest";
import { ProviderError } from "../results/errors.ts";
import { createLogger } from "../telemetry/log.ts";
import { createTestClock } from "../testing/test-clock.ts";
import { ChangeSerializer, type ChangeOrder, SequenceFence } from "./change-serializer.ts";
import { maxOperationMs } from "./long-changes.ts";

const never = new AbortController().signal;

interface Asked {
  readonly key?: string;
  readonly digest?: string;
  readonly signal?: AbortSignal;
  readonly order?: ChangeOrder;
}

interface Run {
  readonly signal: AbortSignal;
  readonly operationEndMs: () => number | undefined;
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

/** A serializer whose callers wait for 10 s, and changes whose work ends when the test says so. */
const setUp = () => {
  const clock = createTestClock(0);
  const drain = new AbortController();
  const logged: string[] = [];
  const log = createLogger({ level: "debug", write: (line) => logged.push(line), now: () => new Date(0) });
  const serializer = new ChangeSerializer<string>({
    clock,
    log,
    bootId: "boot-1",
    draining: drain.signal,
    softMs: 10_000,
  });
  const runs: (Run & { readonly changeId: string })[] = [];
  const ask = (changeId: string, { key = "lb-1", digest = "spec-1", signal = never, order }: Asked = {}) => {
    const answer = serializer.run({
      key,
      changeId,
      digest,
      signal,
      ...(order ? { order } : {}),
      isFinal: () => true,
      pending: ({ id }) => id,
      work: (run) => new Promise((resolve, reject) => runs.push({ ...run, changeId, resolve, reject })),
    });
    // Each test awaits it, but some only after a while.
    answer.catch(() => undefined);
    return answer;
  };
  /** Asks, and waits until the caller has lost its patience. */
  const askLong = async (changeId: string, asked?: Asked) => {
    const answer = ask(changeId, asked);
    await clock.advance(10_000);
    return answer;
  };
  return { clock, drain, logged, serializer, runs, ask, askLong };
};

const operation = (count: number) => `cloudwire-operation/boot-1/${count}`;

describe("ChangeSerializer with work that takes longer than its caller should wait", () => {
  test("answers pending and lets the work go on, with an end of its own", async () => {
    const { askLong, runs, serializer, clock } = setUp();
    expect(await askLong("a")).toBe(operation(1));
    expect(runs.map(({ signal, operationEndMs }) => [signal.aborted, operationEndMs()])).toEqual([
      [false, 10_000 + maxOperationMs],
    ]);
    expect(serializer.longOperation("lb-1")).toEqual({
      kind: "running",
      operation: expect.objectContaining({ id: operation(1), startTime: new Date(clock.nowMs()) }),
    });
  });

  test("joins the next equal spec to it, whatever its ID, and returns the outcome of the work", async () => {
    const { ask, askLong, runs, serializer, clock } = setUp();
    await askLong("a");
    expect(await askLong("b")).toBe(operation(1));
    const third = ask("c");
    runs[0]?.resolve("done");
    expect([await third, runs.length]).toEqual(["done", 1]);
    await clock.advance(0);
    expect([
      serializer.longOperation("lb-1"),
      serializer.hasSucceeded(operation(1)),
      serializer.hasSucceeded(operation(2)),
    ]).toEqual([undefined, true, false]);
  });

  test("goes on although the caller whose call was answered is gone", async () => {
    const { askLong, runs, clock } = setUp();
    const caller = new AbortController();
    await askLong("a", { signal: caller.signal });
    caller.abort(new Error("gone"));
    await clock.advance(0);
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  test("goes on although a caller that joined it gave up", async () => {
    const { ask, askLong, runs } = setUp();
    await askLong("a");
    const caller = new AbortController();
    const joined = ask("b", { signal: caller.signal });
    caller.abort(new Error("gone"));
    await expect(joined).rejects.toThrow("gone");
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  test("returns an unreported failure to the next caller, once, and then tries again", async () => {
    const { ask, askLong, runs, serializer, clock, logged } = setUp();
    await askLong("a");
    runs[0]?.reject(new ProviderError("QUOTA_EXCEEDED", "address quota reached"));
    await clock.advance(0);
    expect(serializer.longOperation("lb-1")).toEqual({ kind: "failed" });
    expect(logged.join("")).toContain("A change failed after its call was answered");
    await expect(ask("b")).rejects.toThrow("address quota reached");
    expect(serializer.longOperation("lb-1")).toBeUndefined();
    const third = ask("c");
    runs[1]?.resolve("done");
    expect([await third, runs.length]).toEqual(["done", 2]);
  });

  test("returns a failure that a caller received to no other caller", async () => {
    const { ask, askLong, runs, serializer, clock } = setUp();
    await askLong("a");
    const joined = ask("b");
    runs[0]?.reject(new Error("address quota reached"));
    await expect(joined).rejects.toThrow("address quota reached");
    await clock.advance(0);
    expect(serializer.longOperation("lb-1")).toBeUndefined();
  });

  test("does not return the failure of one spec to another", async () => {
    const { ask, askLong, runs, clock } = setUp();
    await askLong("a");
    runs[0]?.reject(new Error("address quota reached"));
    await clock.advance(0);
    const other = ask("b", { digest: "spec-2" });
    runs[1]?.resolve("done");
    expect(await other).toBe("done");
  });

  test("ends it for another spec, which runs once it has ended", async () => {
    const { ask, askLong, runs, serializer, clock } = setUp();
    await askLong("a");
    const other = ask("b", { digest: "delete" });
    expect(runs.map(({ changeId, signal }) => [changeId, signal.aborted])).toEqual([["a", true]]);
    runs[0]?.reject(new Error("aborted"));
    await clock.advance(0);
    runs[1]?.resolve("deleted");
    expect([await other, runs.map(({ changeId }) => changeId)]).toEqual(["deleted", ["a", "b"]]);
    await clock.advance(0);
    expect(serializer.longOperation("lb-1")).toBeUndefined();
  });

  test("does not end it for a superseded spec", async () => {
    const { ask, askLong, runs } = setUp();
    await askLong("a");
    const order = { superseded: () => new ProviderError("STALE_GENERATION", "older"), begun: () => undefined };
    await expect(ask("b", { digest: "delete", order })).rejects.toThrow("older");
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  test("takes the caller that joins it for the newest, so that a superseded spec does not end it", async () => {
    const { ask, askLong, runs } = setUp();
    const fence = new SequenceFence(() => 0);
    const order = (sequence: bigint): ChangeOrder => ({
      superseded: () => fence.superseded("lb-1", sequence),
      begun: () => fence.begun("lb-1", sequence),
    });
    await askLong("a", { order: order(1n) });
    await askLong("b", { order: order(3n) });
    await expect(ask("c", { digest: "delete", order: order(2n) })).rejects.toMatchObject({
      reason: "STALE_GENERATION",
    });
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  test("does not return a failure to callers after more than ten minutes", async () => {
    const { ask, askLong, runs, clock } = setUp();
    await askLong("a");
    runs[0]?.reject(new Error("address quota reached"));
    await clock.advance(600_001);
    const second = ask("b");
    runs[1]?.resolve("done");
    expect(await second).toBe("done");
  });

  test("runs the waiting spec as soon as a handler has ignored its abort signal for too long", async () => {
    const { ask, askLong, runs, clock } = setUp();
    await askLong("a");
    await expect(askLong("b", { digest: "spec-2" })).rejects.toMatchObject({ reason: "OPERATION_IN_PROGRESS" });
    await clock.advance(585_000);
    const third = ask("c", { digest: "spec-2" });
    await clock.advance(5_000);
    runs[1]?.resolve("done");
    expect([await third, runs.map(({ changeId }) => changeId)]).toEqual(["done", ["a", "c"]]);
  });

  test("asks another spec to retry when it does not end in time", async () => {
    const { askLong } = setUp();
    await askLong("a");
    await expect(askLong("b", { digest: "delete" })).rejects.toMatchObject({
      reason: "OPERATION_IN_PROGRESS",
      retryAfterMs: 2_000,
    });
  });

  test("ends it after half an hour", async () => {
    const { askLong, runs, clock } = setUp();
    await askLong("a");
    await clock.advance(maxOperationMs - 1);
    expect(runs[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(runs[0]?.signal.reason).toMatchObject({ reason: "DEADLINE_PASSED" });
  });

  test("ends it when the provider shuts down, and lets none outlive its call then", async () => {
    const { ask, askLong, runs, drain, clock } = setUp();
    await askLong("a");
    const second = ask("b", { key: "lb-2" });
    drain.abort(new ProviderError("PROVIDER_DRAINING", "bye"));
    expect(runs[0]?.signal.reason).toMatchObject({ reason: "PROVIDER_DRAINING" });
    await clock.advance(20_000);
    runs[1]?.resolve("done");
    expect(await second).toBe("done");
  });

  test("lets a hundred go on, and keeps the callers of others waiting", async () => {
    const { ask, runs, clock } = setUp();
    const answers = Array.from({ length: 101 }, (_, index) => ask(`c-${index}`, { key: `lb-${index}` }));
    await clock.advance(10_000);
    runs[100]?.resolve("done");
    const reported = await Promise.all(answers);
    expect([
      new Set(reported).size,
      reported.filter((answer) => answer.startsWith("cloudwire-operation/")).length,
    ]).toEqual([101, 100]);
  });

  test("leaves no timer behind", async () => {
    const { askLong, runs, clock } = setUp();
    await askLong("a");
    runs[0]?.resolve("done");
    await clock.advance(0);
    expect(clock.pendingTimers()).toBe(0);
  });
});
