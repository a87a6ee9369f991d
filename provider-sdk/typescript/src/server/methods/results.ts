import type { Absence, NotOwned as WireNotOwned } from "@cloudwire/proto/cloudprovider/v1/common";
import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import { toWireAbsence, toWireNotOwned } from "../convert/common.ts";
import type { Absent, NotOwned } from "../../results/results.ts";
import { cutToBytes, toItemError } from "../../results/status.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RuleChecker } from "@cloudwire/proto/rule-checker";
import { forbidsAbsence } from "../../telemetry/call-recorder.ts";

/** The outcomes that instances and volumes share. */
export type CommonOutcome =
  | { readonly $case: "absent"; readonly value: Absence }
  | { readonly $case: "unknown"; readonly value: ItemError }
  | { readonly $case: "notOwned"; readonly value: WireNotOwned };

/** It could not be found out, and why. */
export const unknownOutcome = (error: ProviderError): CommonOutcome => ({
  $case: "unknown",
  value: toItemError(error),
});

/** It does not exist. */
export const absentOutcome = (answer: Absent, callTime: Date): CommonOutcome => ({
  $case: "absent",
  value: toWireAbsence(answer, callTime),
});

/** It is another provider's. */
export const notOwnedOutcome = (answer: NotOwned): CommonOutcome => ({
  $case: "notOwned",
  value: toWireNotOwned(answer),
});

/**
 * The error that replaces an absence, if an earlier error of the call forbids to report absence: otherwise a Node would be
 * deleted because a firewall rule or a permission was missing.
 */
export const refuseAbsence = (answer: Absent, errors: readonly ProviderError[]): ProviderError | undefined => {
  const forbidding = errors.find(forbidsAbsence);
  if (forbidding) return forbidding;
  const [gap] = errors;
  if (answer.basis !== "COMPLETE_LIST_MISS" || !gap) return undefined;
  return new ProviderError("INCOMPLETE_ANSWER", `a list with an error in it is not complete: ${gap.message}`, {
    cause: gap,
  });
};

type AnswerType = "Instance" | "Volume" | "LoadBalancer" | "Route";

/**
 * An answer of the provider as it travels, or what is wrong with it. Types do not hold a vendor's code to much: what a cloud's JSON has, a number
 * for an id or a text for a time, comes here as it is, and must not take the answers about other objects with it.
 */
export const toWireResult = <Wire>(
  rules: RuleChecker,
  typeName: AnswerType,
  convert: () => Wire,
): Wire | ProviderError => {
  try {
    const wire = convert();
    return answerProblem(rules, typeName, wire) ?? wire;
  } catch (cause) {
    return broken(typeName, cause instanceof Error ? cause.message : String(cause), cause);
  }
};

/** The violation of the contract's rules in a provider's result; undefined if there is none. */
const answerProblem = (rules: RuleChecker, typeName: AnswerType, message: unknown): ProviderError | undefined => {
  const violations = rules.check(`cloudprovider.v1.${typeName}`, message);
  if (violations.length === 0) return undefined;
  const list = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  return broken(typeName, list);
};

const broken = (typeName: AnswerType, problem: string, cause?: unknown): ProviderError =>
  new ProviderError(
    "INVARIANT_BROKEN",
    cutToBytes(`the provider's ${typeName} breaks the contract: ${problem}`, 512),
    cause === undefined ? {} : { cause },
  );
