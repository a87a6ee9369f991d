import { type MethodRule, methodRules } from "@cloudwire/proto/methods";
import { ProviderError } from "./errors.ts";

/** Where an error is told: as the outcome of a call, or as that of one item of its answer. */
export type ErrorPlace = "call" | "item";

const rules: ReadonlyMap<string, MethodRule> = new Map(Object.entries(methodRules));

/**
 * The error as it may be told: the contract lists the reasons of each RPC, and a caller acts on them. One that does not
 * belong there is a slip of the provider and becomes INVARIANT_BROKEN, which keeps its text. Own reasons of a vendor pass.
 */
export const permittedError = (error: ProviderError, method: string, place: ErrorPlace): ProviderError => {
  const rule = rules.get(method);
  if (!rule || error.domain !== undefined) return error;
  const permitted: readonly string[] = place === "call" ? rule.reasons : rule.itemReasons;
  if (permitted.includes(error.reason)) return error;
  const what = place === "call" ? method : `an item of ${method}`;
  return new ProviderError("INVARIANT_BROKEN", `${error.reason} is no reason of ${what}: ${error.message}`, {
    cause: error,
  });
};
