/**
 * Evidence for an absence. `TERMINATED`: the cloud still lists the object, as terminated. `LOOKUP_MISS`: a successful look-up returned
 * that there is no such object. `COMPLETE_LIST_MISS`: a complete list, with no zone and no page missing, does not contain it.
 */
export type AbsenceBasis = "TERMINATED" | "LOOKUP_MISS" | "COMPLETE_LIST_MISS";

/** The authoritative statement that an object does not exist. Made by {@link absent}. */
export interface Absent {
  readonly kind: "absent";
  /** Evidence for the absence. */
  readonly basis: AbsenceBasis;
  /** When the cloud was read. */
  readonly observeTime?: Date | undefined;
  /** True: the read was strongly consistent. */
  readonly stronglyConsistent?: boolean | undefined;
}

/** Options of {@link absent}. */
export interface AbsentOptions {
  /** When the cloud was read. Default: when the call began. */
  readonly observeTime?: Date | undefined;
  /** True: the read was strongly consistent, so a second read would return the same. Default: false. */
  readonly stronglyConsistent?: boolean | undefined;
}

/**
 * States that an object does not exist. This is the only way: a thrown HTTP 404 is an error, because a wrong URL, a missing permission or
 * another account return 404 too. The controller deletes Nodes because of this statement.
 */
export const absent = (basis: AbsenceBasis, options: AbsentOptions = {}): Absent => ({
  kind: "absent",
  basis,
  ...options,
});

/** Work that continues in the cloud after the response. Made by {@link pending}. */
export interface Pending extends PendingOptions {
  readonly kind: "pending";
  /** The provider's ID of the object that is created or changed. */
  readonly id: string;
}

/** Options of {@link pending}. */
export interface PendingOptions {
  /** When to poll again, from now; 1 ms to 60 s. Default: 5 s. */
  readonly pollAfterMs?: number | undefined;
  /** Human-readable stage of the work: `waiting for health checks`. */
  readonly stage?: string | undefined;
  /** The cloud's ID of the operation; the next call contains it as a hint. Default: none. */
  readonly operationId?: string | undefined;
  /** Progress in percent, 0 to 100. */
  readonly progressPercent?: number | undefined;
  /** When the work started. */
  readonly startTime?: Date | undefined;
  /** When the work is expected to end. */
  readonly expectedEndTime?: Date | undefined;
  /** Human-readable description of what it waits for. */
  readonly message?: string | undefined;
  /** UPDATING: the load balancer already serves traffic and is being changed. Default: PROVISIONING, it does not serve yet. */
  readonly phase?: "PROVISIONING" | "UPDATING" | undefined;
  /** For a delete: human-readable objects that still exist: `security group sg-1`. */
  readonly remaining?: readonly string[] | undefined;
}

/**
 * States that the cloud accepted the change and still works on it. The caller polls again after `pollAfterMs`. `id` is the ID of the
 * object: the load balancer, the route.
 */
export const pending = (id: string, options: PendingOptions = {}): Pending => ({ kind: "pending", id, ...options });

/** The statement that an ID or class belongs to another provider. Made by {@link notOwned}. */
export interface NotOwned {
  readonly kind: "notOwned";
  /** Human-readable explanation. */
  readonly message?: string | undefined;
}

/** States that the object belongs to another provider: neither an absence nor an error. */
export const notOwned = (message?: string): NotOwned => ({ kind: "notOwned", message });

/** A zone or region that a list could not read. Made by {@link unreachable}. */
export interface Unreachable {
  readonly kind: "unreachable";
  /** The zone or region. */
  readonly place: string;
}

/**
 * Yielded by a list for a zone or region that it could not read. The list continues, but is not complete, so missing objects are not
 * absent.
 */
export const unreachable = (place: string): Unreachable => ({ kind: "unreachable", place });

/** A token to continue a list with a watch. Made by {@link resumeFrom}. */
export interface ResumeFrom {
  readonly kind: "resumeFrom";
  /** Where a watch can continue. */
  readonly token: string;
}

/** Yielded by a list, at most once: a watch that begins at `token` continues this list without a gap. */
export const resumeFrom = (token: string): ResumeFrom => ({ kind: "resumeFrom", token });
