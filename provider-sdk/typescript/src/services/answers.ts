import type { Absence, NotMine as WireNotMine } from "@cloudwire/proto/cloudprovider/v1/common";
import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import { toWireAbsence, toWireNotMine } from "../convert/common.ts";
import type { Absent, NotMine } from "../definition/outcomes.ts";
import { classifyError } from "../errors/classify.ts";
import { toItemError } from "../errors/item-error.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { raisesDoubt } from "./call-recorder.ts";

/** The outcomes that instances and volumes share. */
export type CommonOutcome =
  | { readonly $case: "absent"; readonly value: Absence }
  | { readonly $case: "unknown"; readonly value: ItemError }
  | { readonly $case: "notMine"; readonly value: WireNotMine };

export const unknownOutcome = (error: ProviderError): CommonOutcome => ({
  $case: "unknown",
  value: toItemError(error),
});

/**
 * Passes an absence on, unless an error was met on the way to it after which nothing may be called absent: a Node would be
 * deleted because a firewall rule or a right was missing.
 */
export const absentOutcome = (answer: Absent, doubt: ProviderError | undefined, callTime: Date): CommonOutcome => {
  if (doubt === undefined) return { $case: "absent", value: toWireAbsence(answer, callTime) };
  return unknownOutcome(doubtedAbsence(doubt));
};

/** The error that takes the place of an absence in doubt. */
export const doubtedAbsence = (doubt: ProviderError): ProviderError =>
  raisesDoubt(doubt)
    ? doubt
    : new ProviderError("INCOMPLETE_ANSWER", `Absence is not concluded after an error: ${doubt.message}`, {
        cause: doubt,
      });

export const notMineOutcome = (answer: NotMine): CommonOutcome => ({ $case: "notMine", value: toWireNotMine(answer) });

/** An error that was thrown for, or answered as, one item. */
export const itemProblem = (thrown: unknown, correlationId: string) =>
  classifyError(thrown, { mutation: false, correlationId });
