import { describe, expect, test } from "vitest";
import { RetryAfterError } from "../util/errors.ts";
import { ReconcileHistory } from "./history.ts";
import { DONE, type Outcome } from "./result.ts";

const failed = (message: string): Outcome => ({ kind: "failed", error: new Error(message) });

function add(history: ReconcileHistory, key: string, outcome: Outcome, id = key): void {
  history.add({ key, reconcileId: id, endMs: 1000, durationMs: 20 }, outcome);
}

describe("ReconcileHistory", () => {
  test("keeps how each reconcile went, newest first", () => {
    const history = new ReconcileHistory();
    add(history, "a", DONE);
    add(history, "b", { kind: "heldOff", error: new RetryAfterError("throttled", 5000), delayMs: 5000 });
    add(history, "a", { kind: "panicked", error: new TypeError("x is undefined") });
    const rest = { endMs: 1000, durationMs: 20 };
    expect(history.recent()).toEqual([
      {
        key: "a",
        reconcileId: "a",
        outcome: "panicked",
        error: { code: undefined, message: "x is undefined" },
        ...rest,
      },
      {
        key: "b",
        reconcileId: "b",
        outcome: "heldOff",
        error: { code: "RETRY_AFTER", message: "throttled" },
        ...rest,
      },
      { key: "a", reconcileId: "a", outcome: "done", error: undefined, ...rest },
    ]);
  });

  test("keeps the last hundred, in order", () => {
    const history = new ReconcileHistory();
    for (let turn = 0; turn < 257; turn++) add(history, "k", DONE, String(turn));
    expect(history.recent().map(({ reconcileId }) => Number(reconcileId))).toEqual(
      Array.from({ length: 100 }, (_, index) => 256 - index),
    );
  });

  test("keeps the last failure of a key until one succeeds; what was cut short says nothing", () => {
    const history = new ReconcileHistory();
    add(history, "a", failed("first"));
    add(history, "b", failed("other"));
    add(history, "a", failed("second"));
    add(history, "b", { kind: "aborted" });
    expect(history.failing().map(({ key, error }) => [key, error?.message])).toEqual([
      ["a", "second"],
      ["b", "other"],
    ]);
    add(history, "a", DONE);
    add(history, "b", { kind: "requeueAfter", delayMs: 1 });
    expect(history.failing()).toEqual([]);
  });

  test("stays small when every key of a large cluster fails with a long message", () => {
    const history = new ReconcileHistory();
    for (let node = 0; node < 15_000; node++) add(history, `node-${node}`, failed("x".repeat(10_000)));
    expect(history.recent()).toHaveLength(100);
    expect(history.failing()).toHaveLength(200);
    expect(JSON.stringify([history.recent(), history.failing()]).length).toBeLessThan(250_000);
  });
});
