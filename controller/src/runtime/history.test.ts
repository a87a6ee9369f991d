import { describe, expect, test } from "vitest";
import { contractError } from "../provider/model/errors.ts";
import { RetryAfterError } from "../util/errors.ts";
import { FailureCounts, ReconcileHistory } from "./history.ts";
import { DONE, type Outcome } from "./reconciler.ts";

const QUOTA = contractError("QUOTA_EXCEEDED", "5 of 5");

const failed = (message: string): Outcome => ({ kind: "error", error: new Error(message) });

function add(history: ReconcileHistory, key: string, outcome: Outcome, id = key): void {
  history.add({ key, reconcileID: id, endMs: 1000, durationMs: 20 }, outcome);
}

describe("ReconcileHistory", () => {
  test("keeps how each reconcile went, newest first", () => {
    const history = new ReconcileHistory();
    add(history, "a", DONE);
    add(history, "b", { kind: "retry_after", error: new RetryAfterError("throttled", 5000), delayMs: 5000 });
    add(history, "a", { kind: "panic", error: new TypeError("x is undefined") });
    const rest = { endMs: 1000, durationMs: 20 };
    expect(history.recent()).toEqual([
      {
        key: "a",
        reconcileID: "a",
        outcome: "panic",
        error: { code: undefined, message: "x is undefined" },
        ...rest,
      },
      {
        key: "b",
        reconcileID: "b",
        outcome: "retry_after",
        error: { code: "RETRY_AFTER", message: "throttled" },
        ...rest,
      },
      { key: "a", reconcileID: "a", outcome: "success", error: undefined, ...rest },
    ]);
  });

  test("finds how each key went last, and why it comes back", () => {
    const history = new ReconcileHistory();
    const why = { reason: "tooManyNodeDeletions", message: "too many" };
    add(history, "a", failed("once"), "1");
    add(history, "a", { kind: "requeue_after", delayMs: 10, why }, "2");
    add(history, "a", { kind: "aborted" }, "3");
    for (let turn = 0; turn < 200; turn++) add(history, "b", DONE);
    expect(history.last("a")).toMatchObject({ reconcileID: "2", outcome: "requeue_after", why });
    expect(history.last("c")).toBeUndefined();
  });

  test("knows who an error is from, and why it was thrown", () => {
    const history = new ReconcileHistory();
    const reported = Object.assign(new Error("outer"), { why: { reason: "absent", message: "no machine" } });
    const error = new RetryAfterError("wait", 10, { cause: Object.assign(reported, { cause: QUOTA }) });
    const record = history.add({ key: "a", reconcileID: "1", endMs: 0, durationMs: 0 }, { kind: "error", error });
    const { code, reason } = QUOTA;
    const from = { kind: "provider", code, reason, class: "OPERATOR", isClientThrottled: false };
    expect(record).toMatchObject({ error: { from }, why: { reason: "absent", message: "no machine" } });
  });

  test("keeps the beginning of what a provider reports at length", () => {
    const history = new ReconcileHistory();
    const why = { reason: "absent", message: "x".repeat(10_000) };
    add(history, "a", { kind: "requeue_after", delayMs: 10, why });
    add(history, "b", { kind: "error", error: Object.assign(new Error("y".repeat(10_000)), { why }) });
    const reported = `${"x".repeat(500)} …`;
    expect(history.last("a")?.why?.message).toBe(reported);
    expect(history.last("b")).toMatchObject({ error: { message: `${"y".repeat(500)} …` }, why: { message: reported } });
  });

  test("keeps the last hundred, in order", () => {
    const history = new ReconcileHistory();
    for (let turn = 0; turn < 257; turn++) add(history, "k", DONE, String(turn));
    expect(history.recent().map(({ reconcileID }) => Number(reconcileID))).toEqual(
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
    add(history, "b", {
      kind: "requeue_after",
      delayMs: 1,
      why: { reason: "tooManyNodeDeletions", message: "too many" },
    });
    expect(history.failing()).toEqual([]);
  });

  test("reports failures latest first, whichever were looked up since", () => {
    const history = new ReconcileHistory();
    for (const [endMs, key] of ["a", "b", "c"].entries()) {
      history.add({ key, reconcileID: key, endMs, durationMs: 0 }, failed(key));
    }
    history.last("a");
    expect(history.failing().map(({ key }) => key)).toEqual(["c", "b", "a"]);
  });

  test("stays small when every key of a large cluster fails with a long message", () => {
    const history = new ReconcileHistory();
    for (let node = 0; node < 15_000; node++) add(history, `node-${node}`, failed("x".repeat(10_000)));
    expect(history.recent()).toHaveLength(100);
    expect(history.failing()).toHaveLength(15_000);
    expect(JSON.stringify(history.failing().slice(0, 100)).length).toBeLessThan(70_000);
  });

  test("forgets what failed longest ago once there are very many", () => {
    const history = new ReconcileHistory();
    for (let service = 0; service < 20_001; service++) add(history, `service-${service}`, failed("refused"));
    const failing = history.failing();
    expect(failing).toHaveLength(20_000);
    expect(failing.at(-1)?.key).toBe("service-1");
  });
});

describe("failure counts", () => {
  test("failed() counts failures of one kind in a row, by key, until one succeeds", () => {
    const counts = new FailureCounts();
    expect([counts.failed("a", "x"), counts.failed("a", "x"), counts.failed("b", "x")]).toEqual([1, 2, 1]);
    counts.succeeded("a");
    expect([counts.failed("a", "x"), counts.failed("b", "x"), counts.failed("b", "y")]).toEqual([1, 2, 1]);
  });
});
