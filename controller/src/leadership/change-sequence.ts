import { CHANGE_EPOCH } from "../api/annotations.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import { CHANGE_COUNTER_BITS, type ChangeNumbers, epochOf } from "../provider/model/client.ts";
import { ProviderError } from "../provider/model/errors.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";

export interface ChangeSequenceDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** False: nobody else leads, by the operator's word (--leader-elect=false). */
  readonly isElected: boolean;
}

/** Epochs are milliseconds since 1970 and stay so: this is the year 2248. A number beyond it was never one. */
export const MAX_EPOCH = 2 ** 43;

/** A hundred years: no clock is so far ahead, and it leaves room for all epochs to come below {@link MAX_EPOCH}. */
const MAX_AHEAD_MS = 100 * 365 * 86_400_000;

/** A clock that is behind this has not been set yet, and is no measure. */
const FIRST_EPOCH = Date.UTC(2026, 0, 1);

/**
 * Numbers the changes of all providers so that a later one always has the greater number, over restarts and changes of the leader:
 * `ChangeContext.sequence`, by which a provider refuses what was overtaken on its way (proto/README.md LB-5). A leader has an epoch of
 * its own, greater than any before; without one, and without a lease that is known to be held still, no change goes out.
 */
export class ChangeSequence implements ChangeNumbers {
  readonly #deps: ChangeSequenceDependencies;
  #last = 0n;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  /** The same by the wall clock, which goes on while a machine stands still. */
  #validUntilWallMs = Number.NEGATIVE_INFINITY;
  #wantedEpoch = 0;
  /** What was said in the log last, so that it is said once. */
  #disbelieved = "";

  constructor(dependencies: ChangeSequenceDependencies) {
    this.#deps = dependencies;
    if (!dependencies.isElected) this.establish(dependencies.clock.nowMs(), Number.POSITIVE_INFINITY);
  }

  /** Of the last change; 0: there is none yet. */
  get epoch(): number {
    return Number(this.#last >> CHANGE_COUNTER_BITS);
  }

  /** Least epoch that providers will take changes of, as far as they have said; 0: none has said anything. */
  get wantedEpoch(): number {
    return this.#wantedEpoch;
  }

  /** This process leads in that epoch, and may send changes until then, by the monotonic clock. */
  establish(epoch: number, validUntilMs: number): void {
    if (epoch > this.epoch) this.#last = BigInt(epoch) << CHANGE_COUNTER_BITS;
    this.#validUntilMs = validUntilMs;
    const { clock } = this.#deps;
    this.#validUntilWallMs = clock.nowMs() + (validUntilMs - clock.monotonicMs());
  }

  /**
   * The epoch, unless it is so great that no leader can have had it: believed, it would leave none for those to come, and no change could
   * ever go out again. Then the log says who names it.
   */
  believe(epoch: number, source: string): number | undefined {
    const { clock, log } = this.#deps;
    if (epoch < MAX_EPOCH && epoch <= Math.max(clock.nowMs(), FIRST_EPOCH) + MAX_AHEAD_MS) return epoch;
    const claim = `${source}: ${epoch}`;
    if (claim !== this.#disbelieved) {
      log.error("An epoch of changes that no leader can have had is ignored; see to it that its source is put right", {
        source,
        epoch,
      });
    }
    this.#disbelieved = claim;
    return undefined;
  }

  /** Another leads, or may. */
  suspend(): void {
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Throws when no change may be sent now. A process that stood still for a while may find itself replaced before it hears of it. */
  check(): void {
    const { clock } = this.#deps;
    if (clock.monotonicMs() < this.#validUntilMs && clock.nowMs() < this.#validUntilWallMs) return;
    const message =
      "a change was not sent: it is not certain that this process still leads; it is tried again once the Lease is renewed";
    throw new ProviderError({ code: "UNAVAILABLE", message });
  }

  /** Of the next change. */
  next(): bigint {
    this.check();
    this.#last += 1n;
    return this.#last;
  }

  /**
   * A provider has applied a newer change than the one it refuses with `error`. If this process is the leader all the same (the Lease
   * was deleted, or a clock set back), a greater epoch lets changes through again: it comes into force with the next renewal of the
   * Lease, which fails if another leads. Without election it does so at once.
   */
  refused(error: ProviderError): void {
    const { epoch } = this;
    const said = epochOf(error.metadata["applied_sequence"]);
    const applied = said && this.believe(said, `a provider, against the contract (LB-5): ${error.message}`);
    // A change of an earlier epoch: a greater one is in force already.
    if (applied !== undefined && applied < epoch) return;
    this.#wantedEpoch = Math.max(this.#wantedEpoch, (applied ?? epoch) + 1);
    const { log, clock, isElected } = this.#deps;
    log.warn(
      "A provider has applied a newer change than ours; numbers are raised, with election once the Lease is renewed",
      {
        err: error,
        epoch,
        wanted: this.#wantedEpoch,
      },
    );
    if (!isElected) this.establish(Math.max(clock.nowMs(), this.#wantedEpoch), Number.POSITIVE_INFINITY);
  }
}

export interface EpochAnnotationDependencies {
  readonly sequence: ChangeSequence;
  /** Of this process, on the Lease. */
  readonly identity: string;
  readonly clock: Clock;
}

/**
 * Keeps the epoch of changes on the Lease: whoever takes the Lease takes a greater one in the same write, so that two leaders never
 * have the same, and a greater one goes to the later. What the Lease has forgotten, because it was deleted, the clock makes up for.
 */
export class EpochAnnotation implements LeaseAnnotation {
  readonly #deps: EpochAnnotationDependencies;
  /** Greatest one ever read or written here. */
  #seen = 0;
  /** What was last written here, though perhaps in vain; 0: nothing yet. */
  #written = 0;
  #isHeld = false;

  constructor(dependencies: EpochAnnotationDependencies) {
    this.#deps = dependencies;
  }

  /** Only a write that was answered makes changes valid for longer: the others count from the last one that they saw. */
  read(annotations: Readonly<Record<string, string>>, holder: string, heldUntilMs?: number): void {
    const { sequence, identity } = this.#deps;
    const epoch = this.#believed(parseEpoch(annotations[CHANGE_EPOCH]));
    this.#seen = Math.max(this.#seen, epoch);
    this.#isHeld = holder === identity && epoch > 0 && epoch === this.#written;
    if (!this.#isHeld) sequence.suspend();
    else if (heldUntilMs !== undefined) sequence.establish(epoch, heldUntilMs);
  }

  write(): Readonly<Record<string, string>> {
    const { sequence, clock } = this.#deps;
    this.#written = nextEpoch({
      seen: this.#seen,
      own: Math.max(sequence.epoch, this.#written),
      wanted: sequence.wantedEpoch,
      isHeld: this.#isHeld,
      nowMs: clock.nowMs(),
    });
    return { [CHANGE_EPOCH]: String(this.#written) };
  }

  /** Anybody who may write Leases may have written it. */
  #believed(epoch: number): number {
    if (epoch === this.#written) return epoch;
    return this.#deps.sequence.believe(epoch, `annotation ${CHANGE_EPOCH} of the Lease`) ?? 0;
  }
}

export interface EpochFacts {
  /** Greatest epoch known of anybody. */
  readonly seen: number;
  /** Greatest one of this process' changes and of what it has written. */
  readonly own: number;
  /** Least one that providers take changes of. */
  readonly wanted: number;
  /** The Lease is this process' already, with the epoch that it wrote. */
  readonly isHeld: boolean;
  readonly nowMs: number;
}

/** A leader keeps its epoch, unless providers want a greater one; a new leader takes one that nobody can have had. */
export function nextEpoch({ seen, own, wanted, isHeld, nowMs }: EpochFacts): number {
  if (isHeld && wanted <= own) return own;
  return Math.min(Math.max(nowMs, seen + 1, own + 1, wanted), MAX_EPOCH - 1);
}

/** 0: there is none, or what is there was not written by us. */
function parseEpoch(text: string | undefined): number {
  return /^\d+$/.test(text ?? "") ? Number(text) : 0;
}
