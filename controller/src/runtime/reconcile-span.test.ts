import { expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import { MemoryTraces } from "../../test/support/memory-traces.ts";
import { inReconcileSpan } from "./reconcile-span.ts";
import type { Outcome } from "./result.ts";

const error = Object.assign(new Error("no"), { code: "BROKEN" });
const OUTCOMES: readonly (readonly [Outcome, boolean])[] = [
  [{ kind: "done" }, false],
  [{ kind: "requeueAfter", delayMs: 1 }, false],
  [{ kind: "failed", error }, true],
  [{ kind: "heldOff", error, delayMs: 1 }, false],
  [{ kind: "terminal", error }, true],
  [{ kind: "panicked", error }, true],
  [{ kind: "aborted" }, false],
];

test.each(OUTCOMES)("inReconcileSpan() shows an outcome as what it is: %j", async (outcome, isError) => {
  const traces = new MemoryTraces();
  const context = {
    key: "default/web",
    priority: "low",
    failures: 2,
    reconcileId: "r-1",
    signal: new AbortController().signal,
    log: new FakeLog(),
  } as const;
  const name = "service-lb-controller";
  expect(await inReconcileSpan(traces.tracing, name, context, () => Promise.resolve(outcome))).toBe(outcome);
  expect(traces.spans).toEqual([
    {
      name: "reconcile service-lb-controller",
      parent: undefined,
      links: [],
      isError,
      attributes: {
        "cloudwire.controller": name,
        "cloudwire.key": "default/web",
        "cloudwire.reconcile_id": "r-1",
        "cloudwire.priority": "low",
        "cloudwire.failures": 2,
        "cloudwire.outcome": outcome.kind,
        ...(isError ? { "error.type": "BROKEN" } : {}),
      },
    },
  ]);
});
