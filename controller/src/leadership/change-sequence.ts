import { CHANGE_EPOCH } from "../api/annotations.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import { CHANGE_COUNTER_BITS, type ChangeNumbers, epochOf } from "../provider/model/client.ts";
import { ProviderError } from "../provider/model/errors.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";

export interface ChangeSequenceDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** False with --leader-elect=false: no other process leads. */
  readonly isElected: boolean;
}

/** Epochs are milliseconds since 1970. A greater number (after the year 2248) is invalid. */
export const MAX_EPOCH = 2 ** 43;

/** A hundred years: no clock is so far ahead, and later epochs still fit below {@link MAX_EPOCH}. */
const MAX_AHEAD_MS = 100 * 365 * 86_400_000;

/** An earlier clock has not been set yet. */
const FIRST_EPOCH = Date.UTC(2026, 0, 1);

/**
 * Numbers the changes of all providers in ascending order across restarts and leaders (`ChangeContext.sequence`), so that a provider can
 * reject a superseded change (proto/README.md LB-5). Each leader has a greater epoch than all before it. No change is sent without an epoch
 * and a Lease that is certainly held.
 */
export class ChangeSequence implements ChangeNumbers {
  readonly #deps: ChangeSequenceDependencies;
  #last = 0n;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  /** The same time by the wall clock, which continues while the machine is suspended. */
  #validUntilWallMs = Number.NEGATIVE_INFINITY;
  #requiredEpoch = 0;
  /** The invalid epoch that was logged last, to log it once. */
  #rejectedEpoch = "";

  constructor(dependencies: ChangeSequenceDependencies) {
    this.#deps = dependencies;
    if (!dependencies.isElected) this.establish(dependencies.clock.nowMs(), Number.POSITIVE_INFINITY);
  }

  get epoch(): number {
    return Number(this.#last >> CHANGE_COUNTER_BITS);
  }

  /** Least epoch that providers accept, as far as known; 0: unknown. */
  get requiredEpoch(): number {
    return this.#requiredEpoch;
  }

  /** This process leads in that epoch and may send changes until then (monotonic clock). */
  establish(epoch: number, validUntilMs: number): void {
    if (epoch > this.epoch) this.#last = BigInt(epoch) << CHANGE_COUNTER_BITS;
    this.#validUntilMs = validUntilMs;
    const { clock } = this.#deps;
    this.#validUntilWallMs = clock.nowMs() + (validUntilMs - clock.monotonicMs());
  }

  /** Returns a valid epoch. Logs and rejects one that no leader can have had: no greater one would be left for later leaders. */
  validate(epoch: number, source: string): number | undefined {
    const { clock, log } = this.#deps;
    if (epoch < MAX_EPOCH && epoch <= Math.max(clock.nowMs(), FIRST_EPOCH) + MAX_AHEAD_MS) return epoch;
    const claim = `${source}: ${epoch}`;
    if (claim !== this.#rejectedEpoch)
      log.error("Ignored an invalid change epoch; correct its source", { source, epoch });
    this.#rejectedEpoch = claim;
    return undefined;
  }

  suspend(): void {
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Throws unless this process certainly leads: after a pause, another may have taken the Lease. */
  check(): void {
    const { clock } = this.#deps;
    if (clock.monotonicMs() < this.#validUntilMs && clock.nowMs() < this.#validUntilWallMs) return;
    const message =
      "the change was not sent because this process may no longer be the leader; it is retried once the Lease is renewed";
    throw new ProviderError({ code: "UNAVAILABLE", message });
  }

  next(): bigint {
    this.check();
    this.#last += 1n;
    return this.#last;
  }

  /**
   * A provider has applied a newer change than the one that it rejects with `error`. If this process is still the leader (the Lease was
   * deleted, or a clock set back), it needs a greater epoch, which takes effect with the next renewal of the Lease.
   */
  rejected(error: ProviderError): void {
    const { epoch } = this;
    const reported = epochOf(error.metadata["applied_sequence"]);
    const applied = reported && this.validate(reported, `a provider, against the contract (LB-5): ${error.message}`);
    // The rejected change has an earlier epoch: ours is greater already.
    if (applied !== undefined && applied < epoch) return;
    this.#requiredEpoch = Math.max(this.#requiredEpoch, (applied ?? epoch) + 1);
    const { log, clock, isElected } = this.#deps;
    log.warn("A provider has applied a newer change than ours; the epoch increases with the next Lease renewal", {
      err: error,
      epoch,
      wanted: this.#requiredEpoch,
    });
    if (!isElected) this.establish(Math.max(clock.nowMs(), this.#requiredEpoch), Number.POSITIVE_INFINITY);
  }
}

/**
 * Stores the epoch of changes on the Lease. A process that takes the Lease writes a greater epoch in the same request, so no two leaders
 * share one. After the Lease was deleted, the clock provides a greater epoch.
 */
export class EpochAnnotation implements LeaseAnnotation {
  readonly #deps: { readonly sequence: ChangeSequence; readonly identity: string; readonly clock: Clock };
  #seen = 0;
  /** Last epoch sent, even if the write may have failed; 0: none. */
  #written = 0;
  #isHeld = false;

  constructor(dependencies: { readonly sequence: ChangeSequence; readonly identity: string; readonly clock: Clock }) {
    this.#deps = dependencies;
  }

  /** Only an acknowledged write extends the time for which changes are valid. */
  read(annotations: Readonly<Record<string, string>>, holderIdentity: string, heldUntilMs?: number): void {
    const { sequence, identity } = this.#deps;
    const found = parseEpoch(annotations[CHANGE_EPOCH]);
    // Any client that may write Leases can write this annotation.
    const epoch =
      found === this.#written ? found : (sequence.validate(found, `annotation ${CHANGE_EPOCH} of the Lease`) ?? 0);
    this.#seen = Math.max(this.#seen, epoch);
    this.#isHeld = holderIdentity === identity && epoch > 0 && epoch === this.#written;
    if (!this.#isHeld) sequence.suspend();
    else if (heldUntilMs !== undefined) sequence.establish(epoch, heldUntilMs);
  }

  write(): Readonly<Record<string, string>> {
    const { sequence, clock } = this.#deps;
    this.#written = nextEpoch({
      seen: this.#seen,
      own: Math.max(sequence.epoch, this.#written),
      required: sequence.requiredEpoch,
      isHeld: this.#isHeld,
      nowMs: clock.nowMs(),
    });
    return { [CHANGE_EPOCH]: String(this.#written) };
  }
}

export interface EpochFacts {
  /** Greatest epoch of any process. */
  readonly seen: number;
  /** Greatest epoch that this process has used or written. */
  readonly own: number;
  /** Least epoch that providers accept. */
  readonly required: number;
  /** This process holds the Lease with the epoch that it wrote. */
  readonly isHeld: boolean;
  readonly nowMs: number;
}

/** A leader keeps its epoch unless providers require a greater one; a new leader takes an unused one. */
export function nextEpoch({ seen, own, required, isHeld, nowMs }: EpochFacts): number {
  if (isHeld && required <= own) return own;
  return Math.min(Math.max(nowMs, seen + 1, own + 1, required), MAX_EPOCH - 1);
}

/** 0: absent, or not written by this program. */
function parseEpoch(text: string | undefined): number {
  return /^\d+$/.test(text ?? "") ? Number(text) : 0;
}
