import { type ProviderError, type ProviderErrorClass, hasReason, retryDelayMs } from "../../provider/model/errors.ts";
import type { Why } from "../../runtime/reconciler.ts";
import { RetryAfterError } from "../../util/errors.ts";
import { hinted } from "../../util/text.ts";
import type { CidrRejection } from "./plan.ts";

/** Routes of a Node or of a provider could not be synced. The cause has the wait that the provider asked for. */
export class RouteSyncError extends Error {
  readonly code = "ROUTE_SYNC";
  readonly why: Why | undefined;

  constructor(message: string, { why, ...options }: ErrorOptions & { readonly why?: Why } = {}) {
    super(message, options);
    this.name = "RouteSyncError";
    this.why = why;
  }
}

export interface CidrFailure {
  readonly cidr: string;
  readonly nameHint: string;
  readonly message: string;
  readonly rejection: CidrRejection | undefined;
  /** undefined: the provider was not called. */
  readonly error: ProviderError | undefined;
  /** The instance does not exist, so that the Node will be deleted. */
  readonly isTargetGone: boolean;
}

/** When only a change in the cluster helps. Nodes that wait for room are enqueued earlier. */
const BLOCKED_MS = 300_000;

/** After `inARow` failures of that kind; undefined: the queue's back-off. */
export function waitMs({ error, isTargetGone }: CidrFailure, inARow: number): number | undefined {
  return error === undefined || isTargetGone ? BLOCKED_MS : retryDelayMs(error, inARow);
}

export function failureKind(failures: readonly CidrFailure[]): string {
  return failures.map(({ error }) => error?.class ?? "").join();
}

export function waitsForRoom({ error }: CidrFailure): boolean {
  return error === undefined || hasReason(error, "QUOTA_EXCEEDED") || hasReason(error, "CIDR_CONFLICT");
}

/**
 * Not when the cloud throttles or the instance does not exist. Not the first time either when the provider restarts or asks for an
 * immediate retry.
 */
export function isReported({ error, isTargetGone }: CidrFailure, inARow: number): boolean {
  if (isTargetGone || error?.class === "WAIT") return false;
  const isRestart = error?.fromTransport === true && error.code === "UNAVAILABLE";
  return inARow > 1 || !(isRestart || error?.class === "RESYNC");
}

/** One error for all failures: with back-off if one of them needs it, otherwise after the shortest wait. */
export function failureOf(nodeName: string, failures: readonly CidrFailure[], inARow: number): Error {
  const cidrs = failures.map(({ cidr, message }) => `${cidr}: ${message}`).join("; ");
  const message = `route node ${nodeName}: ${cidrs}`;
  const waits = failures.map((failure) => waitMs(failure, inARow));
  const unfixed = waits.indexOf(undefined);
  const cause = failures[Math.max(0, unfixed)]?.error;
  if (unfixed >= 0) return new RouteSyncError(message, { cause });
  return new RetryAfterError(message, Math.min(...waits.map((wait) => wait ?? 0)), {
    cause: cause ?? rejectionOf(failures),
  });
}

function rejectionOf(failures: readonly CidrFailure[]): RouteSyncError | undefined {
  const [first] = failures;
  if (first?.rejection === undefined) return undefined;
  const { rejection: reason, message } = first;
  return new RouteSyncError(message, { why: { reason, message } });
}

/** Of an event's 1024 bytes. */
const MAX_LENGTH = 800;

interface Hint {
  readonly nextTry: string;
  /** undefined: it resolves automatically. */
  readonly remedy: string | undefined;
}

const AGAIN = "delete the Node and let it register again with a pod CIDR of its own";

const BY_REJECTION: Readonly<Record<NonNullable<CidrFailure["rejection"]>, string>> = {
  malformed: AGAIN,
  outside: AGAIN,
  size: AGAIN,
  overlap: AGAIN,
  family: "assign Nodes pod CIDRs of an IP family that the provider routes",
};

/** Describes the waits of this file and of provider/model/errors.ts. */
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

/** The error, the next retry and the remedy; for events. */
export function failureText(failure: CidrFailure): string {
  const { nextTry, remedy } = hintOf(failure);
  return hinted(failure.message, nextTry, remedy, MAX_LENGTH);
}

function hintOf({ rejection, error, isTargetGone }: CidrFailure): Hint {
  if (error === undefined || isTargetGone) {
    return { nextTry: "retrying within 5 minutes", remedy: rejection && BY_REJECTION[rejection] };
  }
  const byClass = BY_CLASS[error.class];
  if (hasReason(error, "QUOTA_EXCEEDED")) return FULL;
  return hasReason(error, "CIDR_CONFLICT") ? IN_USE : byClass;
}
