import { ProviderError } from "../results/errors.ts";
import { orAborted } from "../util/clock.ts";
import {
  type LongChange,
  LongChanges,
  type LongChangesOptions,
  type LongOperation,
  type LongOperationState,
} from "./long-changes.ts";
import { LruMap } from "./lru.ts";
import { SharedTask } from "./shared-task.ts";

/** A change while it is carried out. */
export interface ChangeRun {
  /** Aborted when all callers have given up, or the work may not go on. */
  readonly signal: AbortSignal;
  /** End of work that outlived its call, in epoch milliseconds; undefined: its call's deadline holds. */
  readonly operationEndMs: () => number | undefined;
}

/** Distinguishes superseded changes from current ones. */
export interface ChangeOrder {
  /** Why the change comes too late; undefined if it does not. */
  readonly superseded: () => ProviderError | undefined;
  /** It is carried out from now on: older ones come too late. */
  readonly begun: () => void;
}

/** A change that wants to run. */
export interface Change<Answer> {
  /** What is changed; changes of one key never overlap. */
  readonly key: string;
  /** Id of the intended change. */
  readonly changeId: string;
  /** Distinguishes changes that carry the same id by mistake, and equal specs that carry different ones. */
  readonly digest: string;
  readonly signal: AbortSignal;
  /** Runs when the key is free. */
  readonly work: (run: ChangeRun) => Promise<Answer>;
  /** True: repeating the change is answered with this answer. False for work that goes on. */
  readonly isFinal: (answer: Answer) => boolean;
  /** Where it stands among the changes of its key. Without it every change is in time. */
  readonly order?: ChangeOrder;
  /** The response to callers while the work outlives their wait. Without it they wait until their deadlines. */
  readonly pending?: (operation: LongOperation) => Answer;
}

/** What a {@link ChangeSerializer} needs. */
export interface ChangeSerializerOptions extends LongChangesOptions {
  /** How long a caller waits before the response that the work continues. Contract: Limits.soft_call_duration. */
  readonly softMs: number;
}

const maxReplays = 1_000;
const replayMaxAgeMs = 600_000;

/** A handler that ignores its abort signal for this long loses the key. */
const abandonedMaxMs = 600_000;

/** Retry delay of callers that find a key busy. Contract, section 3.5: fixed 2 s. */
const busyRetryMs = 2_000;

interface Running<Answer> {
  readonly changeId: string;
  readonly digest: string;
  readonly task: SharedTask<Answer>;
  readonly pending: Change<Answer>["pending"];
  /** Number of callers that wait for it, or received its outcome. */
  callers: number;
  /** Set when it has outlived a call. */
  long: LongChange | undefined;
  /** A newer spec has replaced it: its outcome needs no report. */
  superseded: boolean;
}

interface Worker<Answer> {
  readonly running: Running<Answer>;
  /** Resolves when the key is free again. */
  readonly freed: Promise<void>;
  waiting: boolean;
}

/** Resolves when the caller has waited long enough; never, for changes without `pending`. */
type Patience = Promise<typeof late>;
const late = Symbol("late");

/**
 * Runs changes one at a time for each key: one runs, one may wait, a third must retry. A repetition of the
 * running change joins it, a repetition of a finished one gets its response. Work that takes longer than a caller should wait continues
 * without it: equal specs join it, another spec ends it and runs next, and its failure is kept for the next caller.
 */
export class ChangeSerializer<Answer> {
  readonly #options: ChangeSerializerOptions;
  readonly #workers = new Map<string, Worker<Answer>>();
  readonly #replays: LruMap<{ readonly digest: string; readonly answer: Answer }>;
  readonly #long: LongChanges;

  constructor(options: ChangeSerializerOptions) {
    this.#options = options;
    this.#replays = new LruMap({ maxEntries: maxReplays, maxAgeMs: replayMaxAgeMs, nowMs: options.clock.nowMs });
    this.#long = new LongChanges(options);
  }

  async run(change: Change<Answer>): Promise<Answer> {
    const replay = this.#replays.get(replayKey(change));
    if (replay?.digest === change.digest) return replay.answer;
    const waited = Promise.withResolvers<typeof late>();
    const { clock, softMs } = this.#options;
    const cancel = change.pending ? clock.after(softMs, () => waited.resolve(late)) : () => undefined;
    try {
      return await this.#take(change, waited.promise);
    } finally {
      cancel();
    }
  }

  /** The state of work on this key that outlived its call; undefined if there is none. */
  longOperation(key: string): LongOperationState | undefined {
    const running = this.#workers.get(key)?.running;
    if (running?.long) return { kind: "running", operation: running.long };
    return this.#long.hasFailed(key) ? { kind: "failed" } : undefined;
  }

  /** True: long work with this id has ended well, not long ago. */
  hasSucceeded(operationId: string): boolean {
    return this.#long.hasSucceeded(operationId);
  }

  async #take(change: Change<Answer>, patience: Patience): Promise<Answer> {
    const worker = this.#workers.get(change.key);
    if (worker && isRepetition(worker.running, change)) return this.#join(worker.running, change, patience);
    // Checked each time: a newer change may have run while this one waited.
    const superseded = change.order?.superseded();
    if (superseded) throw superseded;
    if (!worker) {
      this.#long.throwUnreported(change.key, change.digest);
      return this.#join(this.#start(change), change, patience);
    }
    if (worker.waiting) throw busy(change.key);
    if (worker.running.long) supersede(worker.running, change.key);
    worker.waiting = true;
    try {
      const waited = await orAborted(Promise.race([worker.freed, patience]), change.signal);
      if (waited === late) throw busy(change.key);
    } finally {
      worker.waiting = false;
    }
    // Another may have taken the key between its release and this turn.
    return this.#take(change, patience);
  }

  async #join(running: Running<Answer>, change: Change<Answer>, patience: Patience): Promise<Answer> {
    running.callers += 1;
    change.order?.begun();
    try {
      const joined = running.task.join(change.signal);
      const outcome = await Promise.race([joined, patience]);
      if (outcome !== late) return outcome;
      const operation = this.#outlive(running);
      if (!operation || !running.pending) return await joined;
      running.callers -= 1;
      // This caller no longer waits.
      joined.catch(() => undefined);
      return running.pending(operation);
    } catch (error) {
      if (change.signal.aborted) running.callers -= 1;
      throw error;
    }
  }

  /** Lets work go on without its callers; undefined: it may not. */
  #outlive(running: Running<Answer>): LongOperation | undefined {
    running.long ??= this.#long.begin(running.task);
    return running.long;
  }

  #start(change: Change<Answer>): Running<Answer> {
    // The work begins at once, and may ask before there is an answer.
    const started: { running?: Running<Answer> } = {};
    const task = new SharedTask((signal) => this.#work(change, signal, () => started.running?.long?.endMs));
    const { changeId, digest, pending } = change;
    const running: Running<Answer> = {
      changeId,
      digest,
      task,
      pending,
      callers: 0,
      long: undefined,
      superseded: false,
    };
    started.running = running;
    this.#workers.set(change.key, { running, freed: this.#untilFree(change.key, running), waiting: false });
    return running;
  }

  async #work(
    change: Change<Answer>,
    signal: AbortSignal,
    operationEndMs: ChangeRun["operationEndMs"],
  ): Promise<Answer> {
    const answer = await change.work({ signal, operationEndMs });
    if (change.isFinal(answer)) this.#replays.set(replayKey(change), { digest: change.digest, answer });
    return answer;
  }

  /** The key stays taken while the handler works, even when every caller has gone: the cloud may still change. */
  async #untilFree(key: string, running: Running<Answer>): Promise<void> {
    const { task, digest } = running;
    const ignored = this.#ignored(task.signal);
    const end = await Promise.race([task.failure.then((failure) => ({ failure })), ignored.forTooLong]);
    ignored.cancel();
    this.#workers.delete(key);
    if (end === undefined) this.#options.log.error("An abandoned change does not end; its key is free again", { key });
    else if (running.long)
      this.#long.ended({
        key,
        digest,
        operation: running.long,
        failure: end.failure,
        isUnreported: !running.superseded && running.callers === 0,
      });
  }

  /** Waits until a handler has ignored its signal for too long; the time counts from the abort. */
  #ignored(signal: AbortSignal): { readonly forTooLong: Promise<undefined>; readonly cancel: () => void } {
    const tooLong = Promise.withResolvers<undefined>();
    let cancelTimer = () => {};
    const reported = () => {
      cancelTimer = this.#options.clock.after(abandonedMaxMs, () => tooLong.resolve(undefined));
    };
    signal.addEventListener("abort", reported, { once: true });
    const cancel = () => {
      signal.removeEventListener("abort", reported);
      cancelTimer();
    };
    return { forTooLong: tooLong.promise, cancel };
  }
}

/** Ends work without waiting callers, so that another spec can be applied. */
const supersede = <Answer>(running: Running<Answer>, key: string): void => {
  running.superseded = true;
  running.task.abandon(
    new ProviderError("OPERATION_IN_PROGRESS", `another change of ${key} has taken its place`, {
      retryAfterMs: busyRetryMs,
    }),
  );
};

const replayKey = ({ key, changeId }: { readonly key: string; readonly changeId: string }): string =>
  `${key}\0${changeId}`;

/** Every equal spec joins work that outlived its call: a caller may have lost the ID. */
const isRepetition = <Answer>(running: Running<Answer>, change: Change<Answer>): boolean =>
  running.digest === change.digest &&
  (running.changeId === change.changeId || running.long !== undefined) &&
  !running.task.abandoned;

const busy = (key: string): ProviderError =>
  new ProviderError("OPERATION_IN_PROGRESS", `another change of ${key} is under way`, { retryAfterMs: busyRetryMs });

/** Objects whose newest change is remembered. */
const maxObjects = 50_000;

/**
 * Refuses changes that were superseded on their way: a leader that did not know yet that it had been replaced must not undo
 * what its successor did. Contract: ChangeContext.sequence.
 */
export class SequenceFence {
  readonly #newest: LruMap<bigint>;

  constructor(nowMs: () => number) {
    this.#newest = new LruMap({ maxEntries: maxObjects, nowMs });
  }

  /** Why a change comes too late; undefined if it does not. 0 is not compared. */
  superseded(object: string, sequence: bigint): ProviderError | undefined {
    const newest = this.#newest.get(object);
    if (newest === undefined || sequence === 0n || sequence >= newest) return undefined;
    return new ProviderError(
      "STALE_GENERATION",
      `the change has sequence ${sequence}, but ${newest} came for the same object already; read it again`,
      { metadata: { applied_sequence: String(newest) } },
    );
  }

  /** A change is about to be carried out. If it fails now, it may have taken effect in part. */
  begun(object: string, sequence: bigint): void {
    if (sequence > (this.#newest.get(object) ?? 0n)) this.#newest.set(object, sequence);
  }
}
