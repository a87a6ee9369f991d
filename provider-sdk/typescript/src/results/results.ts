/**
 * On what an absence rests. `TERMINATED`: the cloud still knows the object and says that it is gone. `LOOKUP_MISS`: a
 * look-up answered, with success, that there is no such object. `COMPLETE_LIST_MISS`: a complete list, no zone missing
 * and no page lost, does not contain it.
 */
export type AbsenceBasis = "TERMINATED" | "LOOKUP_MISS" | "COMPLETE_LIST_MISS";

/** The positive, authoritative statement that an object does not exist. Made by {@link absent}. */
export interface Absent {
  readonly kind: "absent";
  /** How the cloud said so. */
  readonly basis: AbsenceBasis;
  /** When the cloud was read. */
  readonly observeTime?: Date | undefined;
  /** True: the read cannot lag behind what was made. */
  readonly stronglyConsistent?: boolean | undefined;
}

/** What else is known about an absence. */
export interface AbsentOptions {
  /** When the cloud was read. Default: when the call began. */
  readonly observeTime?: Date | undefined;
  /** True: the read was strongly consistent, so a second one would say the same. Default: false. */
  readonly stronglyConsistent?: boolean | undefined;
}

/**
 * States that an object does not exist. This is the only way to say so: an HTTP 404 that is thrown is an error, because
 * a wrong URL, a missing right or another account answer 404 too. A Node is deleted on the strength of this statement.
 */
export const absent = (basis: AbsenceBasis, options: AbsentOptions = {}): Absent => ({
  kind: "absent",
  basis,
  ...options,
});

/** Work that goes on at the cloud after the answer. Made by {@link pending}. */
export interface Pending extends PendingOptions {
  readonly kind: "pending";
  /** The provider's id of what is being made or changed. */
  readonly id: string;
}

/** How far work is. */
export interface PendingOptions {
  /** When to ask again, from now; 1 ms to 60 s. Default: 5 s. */
  readonly pollAfterMs?: number | undefined;
  /** What is being done, for people: `waiting for health checks`. */
  readonly stage?: string | undefined;
  /** The cloud's id of the work; comes back as a hint with the next call. Default: none. */
  readonly operationId?: string | undefined;
  /** 0 to 100. */
  readonly progressPercent?: number | undefined;
  /** When the work at the cloud began. */
  readonly startTime?: Date | undefined;
  /** When it is likely to end. */
  readonly expectedEndTime?: Date | undefined;
  /** What it waits for, for people. */
  readonly message?: string | undefined;
  /** For a load balancer that already serves and is being changed. Default: PROVISIONING, it does not serve yet. */
  readonly phase?: "PROVISIONING" | "UPDATING" | undefined;
  /** For a delete: what is still there, for people: `security group sg-1`. */
  readonly remaining?: readonly string[] | undefined;
}

/**
 * States that the cloud accepted the change and is still working on it; the caller asks again after `pollAfterMs`. `id`
 * is the id of the object worked on: the load balancer, the route.
 */
export const pending = (id: string, options: PendingOptions = {}): Pending => ({ kind: "pending", id, ...options });

/** The statement that an id or class belongs to another provider. Made by {@link notOwned}. */
export interface NotOwned {
  readonly kind: "notOwned";
  /** Why, for people. */
  readonly message?: string | undefined;
}

/** States that the object belongs to another provider: no absence, and no error either. */
export const notOwned = (message?: string): NotOwned => ({ kind: "notOwned", message });

/** A place that a list could not read. Made by {@link unreachable}. */
export interface Unreachable {
  readonly kind: "unreachable";
  /** What could not be read: a zone, a region. */
  readonly place: string;
}

/**
 * Yielded by a list for a zone or region that could not be read: the list goes on, but says that it is not complete, so
 * that nothing is concluded from what it lacks.
 */
export const unreachable = (place: string): Unreachable => ({ kind: "unreachable", place });

/** Where a watch can continue a list. Made by {@link resumeFrom}. */
export interface ResumeFrom {
  readonly kind: "resumeFrom";
  /** Where a watch can continue after this list. */
  readonly token: string;
}

/** Yielded by a list, at most once: a watch that begins at `token` continues this list without a gap. */
export const resumeFrom = (token: string): ResumeFrom => ({ kind: "resumeFrom", token });
