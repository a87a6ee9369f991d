import type { SpanStart, Tracing } from "../telemetry/tracing.ts";
import type { ReconcileContext } from "./reconciler.ts";
import type { Outcome } from "./result.ts";

/** Does one reconcile as a trace of its own: a key comes up for many reasons at once, so it is below none of them. */
export function inReconcileSpan(
  tracing: Tracing,
  controller: string,
  { key, reconcileId, priority, failures }: ReconcileContext,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const start = (): SpanStart => ({
    name: `reconcile ${controller}`,
    kind: "internal",
    attributes: {
      "cloudwire.controller": controller,
      "cloudwire.key": key,
      // The same as in the log.
      "cloudwire.reconcile_id": reconcileId,
      "cloudwire.priority": priority,
      "cloudwire.failures": failures,
    },
  });
  return tracing.root(start, async (span) => {
    const outcome = await work();
    span.set({ "cloudwire.outcome": outcome.kind });
    if (isFailure(outcome)) span.fail(outcome.error);
    return outcome;
  });
}

/** One that is put off or cut short was as it should be. */
function isFailure(
  outcome: Outcome,
): outcome is Extract<Outcome, { readonly kind: "failed" | "terminal" | "panicked" }> {
  return outcome.kind === "failed" || outcome.kind === "terminal" || outcome.kind === "panicked";
}
