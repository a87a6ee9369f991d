import { type ProviderError, type ProviderErrorClass, hasReason, retryDelayMs } from "../../provider/model/errors.ts";
import type { Why } from "../../runtime/reconciler.ts";
import { RetryAfterError } from "../../util/errors.ts";
import { hinted } from "../../util/text.ts";
import type { RangeRefusal } from "./plan.ts";

/** Routes of a Node, or of a whole provider, are not as they should be. What the provider asked to wait is in the cause. */
export class RouteSyncError extends Error {
  readonly code = "ROUTE_SYNC";
  readonly why: Why | undefined;

  constructor(message: string, { why, ...options }: ErrorOptions & { readonly why?: Why } = {}) {
    super(message, options);
    this.name = "RouteSyncError";
    this.why = why;
  }
}

/** One range of a Node has no route. */
export interface RangeFailure {
  readonly cidr: string;
  readonly nameHint: string;
  readonly message: string;
  /** Why the provider was not asked; undefined: it was. */
  readonly refusal: RangeRefusal | undefined;
  /** undefined: the provider was not asked. */
  readonly error: ProviderError | undefined;
  /** The machine itself is gone: its Node will follow. */
  readonly isTargetGone: boolean;
}

/** For what somebody must change in the cluster, and what ends with the Node. Rooms that come free wake the waiting before. */
const BLOCKED_MS = 300_000;

/** How long to wait before the next try, after so many of that kind in a row; undefined: the queue's back-off. */
export function waitMs({ error, isTargetGone }: RangeFailure, inARow: number): number | undefined {
  return error === undefined || isTargetGone ? BLOCKED_MS : retryDelayMs(error, inARow);
}

/** Failures of one kind are waited out with growing delays. */
export function failureKind(failures: readonly RangeFailure[]): string {
  return failures.map(({ error }) => error?.class ?? "").join();
}

/** A free range or room in the table would help. */
export function waitsForRoom({ error }: RangeFailure): boolean {
  return error === undefined || hasReason(error, "QUOTA_EXCEEDED") || hasReason(error, "CIDR_CONFLICT");
}

/**
 * Somebody who reads events can do something about it, or wants to know. Not so when the cloud throttles, when the machine is gone,
 * or, the first time, when the provider is just being restarted or wants to be asked again at once; the next try says so.
 */
export function isNews({ error, isTargetGone }: RangeFailure, inARow: number): boolean {
  if (isTargetGone || error?.class === "WAIT") return false;
  const isRestart = error?.fromTransport === true && error.code === "UNAVAILABLE";
  return inARow > 1 || !(isRestart || error?.class === "RESYNC");
}

/** One error for all failures, of that kind `inARow` times: the soonest wait; back-off as soon as one of them wants it. */
export function failureOf(nodeName: string, failures: readonly RangeFailure[], inARow: number): Error {
  const ranges = failures.map(({ cidr, message }) => `${cidr}: ${message}`).join("; ");
  const message = `route node ${nodeName}: ${ranges}`;
  const waits = failures.map((failure) => waitMs(failure, inARow));
  const unfixed = waits.indexOf(undefined);
  const cause = failures[Math.max(0, unfixed)]?.error;
  if (unfixed >= 0) return new RouteSyncError(message, { cause });
  return new RetryAfterError(message, Math.min(...waits.map((wait) => wait ?? 0)), {
    cause: cause ?? refusalOf(failures),
  });
}

function refusalOf(failures: readonly RangeFailure[]): RouteSyncError | undefined {
  const [first] = failures;
  if (first?.refusal === undefined) return undefined;
  const { refusal: reason, message } = first;
  return new RouteSyncError(message, { why: { reason, message } });
}

/** Of an event's 1024 bytes, without the words before it. */
const MAX_WHY = 800;

interface Hint {
  readonly nextTry: string;
  /** Clause of an instruction; undefined: it passes by itself. */
  readonly remedy: string | undefined;
}

const AGAIN = "delete the Node and let it register again with a pod CIDR of its own";

const BY_REFUSAL: Readonly<Record<NonNullable<RangeFailure["refusal"]>, string>> = {
  malformed: AGAIN,
  taken: AGAIN,
  family: "assign Nodes pod CIDRs of an IP family that the provider routes",
};

/** The waits of failure.ts and of provider/model/errors.ts, in words. */
const BY_CLASS: Readonly<Record<ProviderErrorClass, Hint>> = {
  OUTCOME_UNKNOWN: { nextTry: "retrying in 1 second to 5 minutes", remedy: undefined },
  TRANSIENT: {
    nextTry: "retrying with backoff",
    remedy: "check that the provider runs, reaches its cloud and has valid credentials",
  },
  WAIT: { nextTry: "retrying when the provider allows it", remedy: undefined },
  FINAL: {
    nextTry: "retrying in 30 minutes, or when the Node changes",
    remedy: "correct the value that the message names",
  },
  OPERATOR: {
    nextTry: "retrying in 1 to 5 minutes",
    remedy: "correct the provider's credentials, or grant it the missing permissions in the cloud",
  },
  RESYNC: { nextTry: "retrying in 1 second to 5 minutes", remedy: undefined },
};

const FULL: Hint = {
  nextTry: "retrying in 1 to 15 minutes, or when the table has room",
  remedy: "raise the limit in the cloud, or remove routes",
};

const IN_USE: Hint = {
  nextTry: "retrying in 1 to 5 minutes, or when the pod CIDR is free",
  remedy: "if it is no longer needed, remove the cloud resource that uses the pod CIDR",
};

/** What went wrong with one range, when it is tried again and what somebody can do; for events. */
export function failureText(failure: RangeFailure): string {
  const { nextTry, remedy } = hintOf(failure);
  return hinted(failure.message, nextTry, remedy, MAX_WHY);
}

function hintOf({ refusal, error, isTargetGone }: RangeFailure): Hint {
  if (error === undefined || isTargetGone) {
    return { nextTry: "retrying within 5 minutes", remedy: refusal && BY_REFUSAL[refusal] };
  }
  const byClass = BY_CLASS[error.class];
  if (hasReason(error, "QUOTA_EXCEEDED")) return FULL;
  return hasReason(error, "CIDR_CONFLICT") ? IN_USE : byClass;
}
