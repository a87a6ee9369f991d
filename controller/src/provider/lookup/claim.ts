import { hasReason, type ProviderError } from "../model/errors.ts";
import type { InstanceAnswer } from "../model/instance.ts";
import { contestedNodeError, listed, openClaimError } from "../model/ownership-errors.ts";

/** What one provider says of the machine behind a Node that could be of several. */
export interface Testimony {
  readonly provider: string;
  readonly answer: InstanceAnswer;
}

/**
 * Whose the machine is, when all were asked: who alone has it while all others say that they have not. A provider ID is written once
 * and for ever, so as long as one cannot tell, nobody gets the Node. proto/README.md ABS-8.
 * @param isNews a wait is worth telling
 */
export function settleClaim(nodeName: string, testimonies: readonly Testimony[], isNews: boolean): InstanceAnswer {
  const claiming = testimonies.filter(({ answer }) => answer.kind === "present");
  const [claim, rival] = claiming;
  if (rival !== undefined) {
    const names = claiming.map(({ provider }) => provider);
    const why =
      "each has a machine of that name; remove all but one, or say which is meant with --provider-node-selector";
    return { kind: "unknown", error: contestedNodeError(nodeName, why, names) };
  }
  const open = testimonies.flatMap(({ provider, answer }) =>
    answer.kind === "unknown" ? [{ provider, error: answer.error }] : [],
  );
  const [first] = open;
  if (first !== undefined) {
    return { kind: "unknown", error: claim === undefined ? first.error : waiting(claim, open, isNews) };
  }
  return claim?.answer ?? nobodys(nodeName, testimonies);
}

function waiting(
  { provider }: Testimony,
  open: readonly { readonly provider: string; readonly error: ProviderError }[],
  isNews: boolean,
): ProviderError {
  const who = listed(open.map((one) => one.provider));
  const reasons = [...new Set(open.map(({ error }) => error.message))].join("; ");
  const message = `${provider} has a machine of that name, but ${who} cannot say yet whether there is one, too: ${reasons}`;
  // A cloud that is merely slow to show its machines is looked at again in a moment.
  return openClaimError(message, isNews && !open.every(({ error }) => hasReason(error, "NOT_YET_CONSISTENT")));
}

/** The oldest look counts: later than that somebody may have made the machine. */
function nobodys(nodeName: string, testimonies: readonly Testimony[]): InstanceAnswer {
  const absences = testimonies.flatMap(({ answer }) => (answer.kind === "absent" ? [answer] : []));
  const [oldest] = absences.toSorted((left, right) => left.observeTimeMs - right.observeTimeMs);
  const who = listed(testimonies.map(({ provider }) => provider));
  return oldest ?? { kind: "notMine", message: `node ${nodeName} has no provider ID, and is not of ${who}` };
}
