import { ProviderError } from "../errors/provider-error.ts";
import type { Logger } from "../log/logger.ts";
import { LruMap } from "../util/lru-map.ts";
import { orAborted } from "../util/or-aborted.ts";
import { SharedTask } from "../util/shared-task.ts";

/** A change that wants to run. */
export interface Change<Answer> {
  /** What is changed; changes of one key never overlap. */
  readonly key: string;
  /** Id of the intended change. */
  readonly changeId: string;
  /** Distinguishes changes that carry the same id by mistake. */
  readonly digest: string;
  readonly signal: AbortSignal;
  /** Runs when the key is free; refuses by throwing what became stale while it waited. */
  readonly work: (signal: AbortSignal) => Promise<Answer>;
  /** True: repeating the change is answered with this answer. False for work that goes on. */
  readonly isFinal: (answer: Answer) => boolean;
}

/** What a gate needs. */
export interface ChangeGateOptions {
  readonly nowMs: () => number;
  readonly log: Logger;
}

const maxReplays = 1_000;
const replayMaxAgeMs = 600_000;

/** A handler that ignores its signal for so long has lost its right to the key. */
const abandonedMaxMs = 600_000;

/** Wait told to callers who find a key busy. Contract, section 3.5: fixed 2 s. */
const busyRetryMs = 2_000;

interface Running<Answer> {
  readonly changeId: string;
  readonly digest: string;
  readonly task: SharedTask<Answer>;
}

interface Lane<Answer> {
  readonly running: Running<Answer>;
  /** Resolves when the key is free again. */
  readonly freed: Promise<void>;
  waiting: boolean;
}

/**
 * Runs changes one at a time for each key: one runs, one may wait, a third is told to come again. A repetition of the
 * running change joins it, a repetition of a finished one gets its answer.
 */
export class ChangeGate<Answer> {
  readonly #options: ChangeGateOptions;
  readonly #lanes = new Map<string, Lane<Answer>>();
  readonly #replays: LruMap<{ readonly digest: string; readonly answer: Answer }>;

  constructor(options: ChangeGateOptions) {
    this.#options = options;
    this.#replays = new LruMap({ maxEntries: maxReplays, maxAgeMs: replayMaxAgeMs, nowMs: options.nowMs });
  }

  async run(change: Change<Answer>): Promise<Answer> {
    const replay = this.#replays.get(replayKey(change));
    if (replay?.digest === change.digest) return replay.answer;
    const lane = this.#lanes.get(change.key);
    if (!lane) return this.#start(change);
    if (isRepetition(lane.running, change)) return lane.running.task.join(change.signal);
    if (lane.waiting) throw busy(change.key);
    lane.waiting = true;
    try {
      await orAborted(lane.freed, change.signal);
    } finally {
      lane.waiting = false;
    }
    // Another may have taken the key between its release and this turn.
    return this.run(change);
  }

  #start(change: Change<Answer>): Promise<Answer> {
    const task = new SharedTask((signal) => this.#work(change, signal));
    const freed = this.#untilFree(change.key, task);
    this.#lanes.set(change.key, {
      running: { changeId: change.changeId, digest: change.digest, task },
      freed,
      waiting: false,
    });
    return task.join(change.signal);
  }

  async #work(change: Change<Answer>, signal: AbortSignal): Promise<Answer> {
    const answer = await change.work(signal);
    if (change.isFinal(answer)) this.#replays.set(replayKey(change), { digest: change.digest, answer });
    return answer;
  }

  /** The key stays taken while the handler works, even when every caller has gone: the cloud may still change. */
  async #untilFree(key: string, task: SharedTask<Answer>): Promise<void> {
    const tooLong = Promise.withResolvers<void>();
    const timer = setInterval(() => {
      if (!task.abandoned) return;
      this.#options.log.error("A change does not end although nobody waits for it; its key is free again", { key });
      tooLong.resolve();
    }, abandonedMaxMs);
    timer.unref();
    await Promise.race([task.settled, tooLong.promise]);
    clearInterval(timer);
    this.#lanes.delete(key);
  }
}

const replayKey = ({ key, changeId }: { readonly key: string; readonly changeId: string }): string =>
  `${key}\0${changeId}`;

const isRepetition = (
  running: { readonly changeId: string; readonly digest: string; readonly task: { readonly abandoned: boolean } },
  change: { readonly changeId: string; readonly digest: string },
): boolean => running.changeId === change.changeId && running.digest === change.digest && !running.task.abandoned;

const busy = (key: string): ProviderError =>
  new ProviderError("OPERATION_IN_PROGRESS", `another change of ${key} is under way and a second one waits`, {
    retryAfterMs: busyRetryMs,
  });
