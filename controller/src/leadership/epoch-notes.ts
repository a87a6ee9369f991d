import { CHANGE_EPOCH } from "../api/annotations.ts";
import type { LeaseNotes } from "./lease-lock.ts";
import { type ChangeSequence, MAX_EPOCH } from "./change-sequence.ts";
import type { Clock } from "../util/clock.ts";

export interface EpochNotesDependencies {
  readonly sequence: ChangeSequence;
  /** Of this process, on the Lease. */
  readonly identity: string;
  readonly clock: Clock;
}

/**
 * Keeps the epoch of changes on the Lease: whoever takes the Lease takes a greater one in the same write, so that two leaders never
 * have the same, and a greater one goes to the later. What the Lease has forgotten, because it was deleted, the clock makes up for.
 */
export class EpochNotes implements LeaseNotes {
  readonly #deps: EpochNotesDependencies;
  /** Greatest one ever read or written here. */
  #seen = 0;
  /** What was last written here, though perhaps in vain; 0: nothing yet. */
  #written = 0;
  #isHeld = false;

  constructor(dependencies: EpochNotesDependencies) {
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
