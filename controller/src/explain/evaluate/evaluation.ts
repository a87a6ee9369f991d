import type { State, Wish } from "@cloudwire/operator-api";
import type { ReconcileRecord } from "../../runtime/history.ts";
import { type KnownCause, stateOf } from "../reasons/reasons.ts";

/** How an object stands, and why. */
export interface Judgement {
  readonly state: State;
  /** One sentence. */
  readonly summary: string;
  /** What matters most first. */
  readonly causes: readonly KnownCause[];
  readonly wishes: readonly Wish[];
}

/** What is needed of the last reconcile of an object's key: `Controller.last(key)`. */
export type LastReconcile = Pick<ReconcileRecord, "outcome" | "error" | "why">;

/** What can be said of an object by its causes; without causes it is as `otherwise` says. */
export function judgement(
  causes: readonly KnownCause[],
  otherwise: { readonly state: State; readonly summary: string },
  wishes: readonly Wish[] = [],
): Judgement {
  const distinct = causes.filter(({ reason }, at) => causes.findIndex((other) => other.reason === reason) === at);
  const [first] = distinct;
  if (first === undefined) return { ...otherwise, causes: [], wishes };
  return { state: stateOf(first), summary: first.message, causes: distinct, wishes };
}

/** A wish that is not met is under way, or waits for somebody to do something. */
export function unmet(what: string, [first]: readonly KnownCause[], detail?: string): Wish {
  const isBlocked = first !== undefined && stateOf(first) === "blocked";
  return { what, state: isBlocked ? "unmet" : "pending", ...(detail === undefined ? {} : { detail }) };
}

export function met(what: string): Wish {
  return { what, state: "met" };
}
