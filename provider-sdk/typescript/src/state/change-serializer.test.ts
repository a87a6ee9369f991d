import { describe, expect, test } from "vitest";
import { createLogger } from "../telemetry/log.ts";
import { ChangeSerializer, SequenceFence } from "./change-serializer.ts";
import { createTestClock } from "../testing/test-clock.ts";

const never = new AbortController().signal;

const options = { bootId: "boot-1", draining: never, softMs: 10_000 };

const setUp = () => {
  const logged: string[] = [];
  const clock = createTestClock(0);
  const log = createLogger({ level: "debug", write: (line) => logged.push(line), now: () => new Date(0) });
  const serializer = new ChangeSerializer<string>({ ...options, clock, log });
  const runs: string[] = [];
  const held = new Map<string, (answer: string) => void>();
  /** Asks for a change whose work ends when `finish` is called with its id. */
  const ask = (
    changeId: string,
    options: { readonly key?: string; readonly digest?: string; readonly signal?: AbortSignal } = {},
  ) =>
    serializer.run({
      key: options.key ?? "lb-1",
      changeId,
      digest: options.digest ?? "",
      signal: options.signal ?? never,
      isFinal: (answer) => answer !== "pending",
      work: () => {
        runs.push(changeId);
        return new Promise((resolve) => {
          held.set(changeId, resolve);
        });
      },
    });
  const finish = (changeId: string, answer = changeId) => held.get(changeId)?.(answer);
  return { ask, finish, runs, advance: clock.advance, logged };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("ChangeSerializer", () => {
  test("answers a finished change from its cache for ten minutes, and runs one with other contents", async () => {
    const { ask, finish, runs, advance } = setUp();
    const first = ask("a");
    finish("a", "done");
    expect(await first).toBe("done");
    expect(await ask("a")).toBe("done");
    void ask("a", { digest: "other" });
    expect(runs).toEqual(["a", "a"]);
    finish("a");
    await settled();
    await advance(600_001);
    void ask("a", { digest: "other" });
    expect(runs).toEqual(["a", "a", "a"]);
  });

  test("does not remember work that goes on", async () => {
    const { ask, finish, runs } = setUp();
    const first = ask("a");
    finish("a", "pending");
    expect(await first).toBe("pending");
    await settled();
    void ask("a");
    expect(runs).toEqual(["a", "a"]);
  });

  test("runs a waiting change after a failed one", async () => {
    const serializer = new ChangeSerializer<string>({
      ...options,
      clock: createTestClock(0),
      log: createLogger({ level: "error", write: () => undefined, now: () => new Date(0) }),
    });
    const failing = serializer.run({
      key: "k",
      changeId: "a",
      digest: "",
      signal: never,
      work: () => Promise.reject(new Error("the cloud is down")),
      isFinal: () => true,
    });
    const next = serializer.run({
      key: "k",
      changeId: "b",
      digest: "",
      signal: never,
      work: async () => "b",
      isFinal: () => true,
    });
    await expect(failing).rejects.toThrow("the cloud is down");
    expect(await next).toBe("b");
  });

  test("does not join a repetition to an aborted run, but runs it afterwards", async () => {
    const { ask, finish, runs } = setUp();
    const impatient = new AbortController();
    const first = ask("a", { signal: impatient.signal });
    impatient.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    const again = ask("a");
    expect(runs).toEqual(["a"]);
    finish("a", "pending");
    await settled();
    await settled();
    expect(runs).toEqual(["a", "a"]);
    finish("a", "done");
    expect(await again).toBe("done");
  });

  test("frees the waiting place when the waiting caller gives up", async () => {
    const { ask, finish } = setUp();
    const first = ask("a");
    const impatient = new AbortController();
    const second = ask("b", { signal: impatient.signal });
    impatient.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    const third = ask("c");
    finish("a");
    await first;
    await settled();
    finish("c");
    expect(await third).toBe("c");
  });

  test("frees the key ten minutes after it aborted a handler that never ends, and logs it", async () => {
    const { ask, runs, advance, logged } = setUp();
    const impatient = new AbortController();
    const first = ask("a", { signal: impatient.signal });
    await advance(595_000);
    impatient.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    const second = ask("b");
    await advance(599_999);
    expect(runs).toEqual(["a"]);
    await advance(1);
    expect(runs).toEqual(["a", "b"]);
    expect(logged.join("")).toContain("An abandoned change does not end");
    void second;
  });
});

describe("SequenceFence", () => {
  test("refuses what is older than what was applied to the same object, and compares no zero", () => {
    const fence = new SequenceFence(() => 0);
    fence.begun("a", 5n);
    fence.begun("a", 3n);
    const reasons = (["a", "b"] as const).flatMap((object) =>
      [0n, 4n, 5n, 6n].map((sequence) => fence.superseded(object, sequence)?.reason),
    );
    expect(reasons).toEqual([
      undefined,
      "STALE_GENERATION",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
