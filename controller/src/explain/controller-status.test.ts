import type { ControllerWork, QueuePosition, ReconcileResult } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { nextTryOf } from "./controller-status.ts";

function work(controller: string, queue: QueuePosition, failures = 0, last?: Partial<ReconcileResult>): ControllerWork {
  const result = { outcome: "requeue_after", end: "", durationMs: 1, reconcileId: "", ...last };
  return { controller, key: "k", queue, failures, ...(last === undefined ? {} : { last: result }) };
}

function delayed(inMs: number): QueuePosition {
  return { kind: "delayed", dueAt: `in ${inMs}`, inMs };
}

describe("nextTryOf()", () => {
  test.each<{ what: string; of: readonly ControllerWork[]; next: object | undefined }>([
    {
      what: "nothing waits",
      of: [work("a", { kind: "idle" }), work("b", { kind: "working", forMs: 1 })],
      next: undefined,
    },
    {
      what: "one comes back",
      of: [work("a", { kind: "idle" }), work("b", delayed(50), 0, {})],
      next: { at: "in 50", inMs: 50, why: "b: looks again" },
    },
    {
      what: "one has failed, and another comes back sooner",
      of: [work("a", delayed(10), 0, {}), work("b", delayed(50), 3, { outcome: "error" })],
      next: { at: "in 50", inMs: 50, why: "b: back-off after 3 failures" },
    },
    {
      what: "it failed once",
      of: [work("a", delayed(10), 1, { outcome: "error" })],
      next: { at: "in 10", inMs: 10, why: "a: back-off after 1 failure" },
    },
    {
      what: "somebody asked for a wait",
      of: [work("a", delayed(10), 0, { outcome: "retry_after", error: { message: "slow down" } })],
      next: { at: "in 10", inMs: 10, why: "a: the wait that its last error asks for" },
    },
    {
      what: "it is only planned",
      of: [work("a", delayed(10), 0, { outcome: "planned" })],
      next: { at: "in 10", inMs: 10, why: "a: looks again at what is only planned" },
    },
  ])("when $what", ({ of, next }) => {
    expect(nextTryOf(of)).toEqual(next);
  });
});
