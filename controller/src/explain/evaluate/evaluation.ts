import type { State, DesiredItem } from "@cloudwire/operator-api";
import type { ReconcileRecord } from "../../runtime/history.ts";
import { type KnownCause, stateOf } from "../reasons/reasons.ts";

/** How an object stands, and why. */
export interface Evaluation {
  readonly state: State;
  /** One sentence. */
  readonly summary: string;
  /** What matters most first. */
  readonly causes: readonly KnownCause[];
  readonly desired: readonly DesiredItem[];
}

/** What is needed of the last reconcile of an object's key: `Controller.last(key)`. */
export type LastReconcile = Pick<ReconcileRecord, "outcome" | "error" | "why">;

/** What can be said of an object by its causes; without causes it is as `otherwise` says. */
export function evaluationOf(
  causes: readonly KnownCause[],
  otherwise: { readonly state: State; readonly summary: string },
  desired: readonly DesiredItem[] = [],
): Evaluation {
  const distinct = causes.filter(({ reason }, at) => causes.findIndex((other) => other.reason === reason) === at);
  const [first] = distinct;
  if (first === undefined) return { ...otherwise, causes: [], desired };
  return { state: stateOf(first), summary: first.message, causes: distinct, desired };
}

/** A wish that is not met is under way, or waits for somebody to do something. */
export function unmet(description: string, [first]: readonly KnownCause[], message?: string): DesiredItem {
  const isBlocked = first !== undefined && stateOf(first) === "blocked";
  return { description, state: isBlocked ? "unmet" : "pending", ...(message === undefined ? {} : { message }) };
}

export function met(description: string): DesiredItem {
  return { description, state: "met" };
}
