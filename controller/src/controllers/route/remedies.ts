import { type ProviderErrorClass, hasReason } from "../../provider/model/errors.ts";
import { hinted } from "../../util/hinted.ts";
import type { RangeFailure } from "./failure.ts";

/** Of an event's 1024 bytes, without the words before it. */
const MAX_WHY = 800;

interface Hint {
  readonly nextTry: string;
  /** Clause of an instruction; undefined: it passes by itself. */
  readonly remedy: string | undefined;
}

const AGAIN = "delete the Node and let it register again with a range of its own";

const BY_REFUSAL: Readonly<Record<NonNullable<RangeFailure["refusal"]>, string>> = {
  malformed: AGAIN,
  taken: AGAIN,
  family: "give Nodes ranges of a family that the provider routes",
};

/** The waits of failure.ts and of provider/retry-delay.ts, in words. */
const BY_CLASS: Readonly<Record<ProviderErrorClass, Hint>> = {
  OUTCOME_UNKNOWN: { nextTry: "asked again after 1 second to 5 minutes", remedy: undefined },
  TRANSIENT: {
    nextTry: "tried again with growing waits",
    remedy: "see that the provider runs, reaches its cloud and has valid credentials",
  },
  WAIT: { nextTry: "tried again when the provider allows it", remedy: undefined },
  FINAL: {
    nextTry: "tried again after 30 minutes, and when the Node changes",
    remedy: "change what the message names",
  },
  OPERATOR: {
    nextTry: "tried again after 1 to 5 minutes",
    remedy: "mend the provider's credentials, or its rights at the cloud",
  },
  RESYNC: { nextTry: "asked again after 1 second to 5 minutes", remedy: undefined },
};

const FULL: Hint = {
  nextTry: "tried again after 1 to 15 minutes, and as soon as there is room",
  remedy: "have the limit raised at the cloud, or remove routes",
};

const IN_USE: Hint = {
  nextTry: "tried again after 1 to 5 minutes, and as soon as the range is free",
  remedy: "remove at the cloud what has the range, if it may go",
};

/** What went wrong with one range, when it is tried again and what somebody can do; for events. */
export function failureText(failure: RangeFailure): string {
  const { nextTry, remedy } = hintOf(failure);
  return hinted(failure.message, nextTry, remedy, MAX_WHY);
}

function hintOf({ refusal, error, isTargetGone }: RangeFailure): Hint {
  if (error === undefined || isTargetGone) {
    return { nextTry: "tried again within 5 minutes", remedy: refusal && BY_REFUSAL[refusal] };
  }
  const byClass = BY_CLASS[error.class];
  if (hasReason(error, "QUOTA_EXCEEDED")) return FULL;
  return hasReason(error, "CIDR_CONFLICT") ? IN_USE : byClass;
}
