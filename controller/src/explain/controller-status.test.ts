import type { ControllerStatus, QueuePosition, ReconcileResult } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { nextRetryOf } from "./controller-status.ts";

function work(
  controller: string,
  queue: QueuePosition,
  failures = 0,
  last?: Partial<ReconcileResult>,
): ControllerStatus {
  const result = { outcome: "requeue_after", endTime: "", durationMs: 1, reconcileID: "", ...last };
  return { controller, key: "k", queue, failures, ...(last === undefined ? {} : { last: result }) };
}

function delayed(inMs: number): QueuePosition {
  return { kind: "delayed", dueTime: `in ${inMs}`, inMs };
}

describe("nextTryOf()", () => {
  test.each<{ what: string; of: readonly ControllerStatus[]; next: object | undefined }>([
    {
      what: "nothing waits",
      of: [work("a", { kind: "idle" }), work("b", { kind: "processing", processingMs: 1 })],
      next: undefined,
    },
    {
      what: "one comes back",
      of: [work("a", { kind: "idle" }), work("b", delayed(50), 0, {})],
      next: { time: "in 50", inMs: 50, message: "b: periodic reconcile" },
    },
    {
      what: "one has failed, and another comes back sooner",
      of: [work("a", delayed(10), 0, {}), work("b", delayed(50), 3, { outcome: "error" })],
      next: { time: "in 50", inMs: 50, message: "b: back-off after 3 failures" },
    },
    {
      what: "it failed once",
      of: [work("a", delayed(10), 1, { outcome: "error" })],
      next: { time: "in 10", inMs: 10, message: "a: back-off after 1 failure" },
    },
    {
      what: "the last error has a retry delay",
      of: [work("a", delayed(10), 0, { outcome: "retry_after", error: { message: "slow down" } })],
      next: { time: "in 10", inMs: 10, message: "a: retry delay of the last error" },
    },
    {
      what: "it is only planned",
      of: [work("a", delayed(10), 0, { outcome: "planned" })],
      next: { time: "in 10", inMs: 10, message: "a: periodic evaluation in observe mode" },
    },
  ])("when $what", ({ of, next }) => {
    expect(nextRetryOf(of)).toEqual(next);
  });
});
