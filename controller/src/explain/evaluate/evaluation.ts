import type { DesiredItem, Explanation } from "@cloudwire/operator-api";
import type { NodeOwner } from "../../provider/model/provider.ts";
import type { ReconcileRecord } from "../../runtime/history.ts";
import { type KnownCause, cause, stateOf } from "../reasons/reasons.ts";

/** The evaluated part of an explanation. */
export interface Evaluation extends Pick<Explanation, "state" | "summary" | "desired"> {
  /** Most important first. */
  readonly causes: readonly KnownCause[];
}

/** The last reconcile of an object's key: `Controller.last(key)`. A standby has none. */
export type LastReconcile = Pick<ReconcileRecord, "outcome" | "error" | "why">;

export interface OwnedFacts {
  readonly owner: NodeOwner;
  /** `providerTroubles` of the owner. */
  readonly troubles: readonly KnownCause[];
}

/** The first cause determines state and summary; without causes, `healthy` does. */
export function evaluationOf(
  causes: readonly KnownCause[],
  healthy: Pick<Evaluation, "state" | "summary">,
  desired: readonly DesiredItem[] = [],
): Evaluation {
  const distinct = causes.filter(({ reason }, at) => causes.findIndex((other) => other.reason === reason) === at);
  const [first] = distinct;
  if (first === undefined) return { ...healthy, causes: [], desired };
  return { state: stateOf(first), summary: first.message, causes: distinct, desired };
}

/** Of an object that is being deleted and needs nothing more from this controller. */
export function waitingForFinalizers(kind: "Node" | "Service", finalizers: readonly string[]): Evaluation {
  const message = `The ${kind} is being deleted and waits for finalizers of other controllers: ${finalizers.join(", ")}`;
  const causes = finalizers.length === 0 ? [] : [cause("WaitingForFinalizers", message)];
  return evaluationOf(causes, { state: "progressing", summary: `The ${kind} is being deleted.` });
}

/** Pending, or unmet if the first cause needs manual intervention. */
export function unmet(description: string, [first]: readonly KnownCause[], message?: string): DesiredItem {
  const isBlocked = first !== undefined && stateOf(first) === "blocked";
  return { description, state: isBlocked ? "unmet" : "pending", ...(message === undefined ? {} : { message }) };
}

export function met(description: string): DesiredItem {
  return { description, state: "met" };
}
