import { ProviderError } from "../results/errors.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import { LruMap } from "./lru.ts";
import type { SharedTask } from "./shared-task.ts";

/** What is needed to let work go on after its calls. */
export interface LongChangesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bootId: string;
  /** Ends work that outlived its calls. */
  readonly draining: AbortSignal;
}

/** A change that has outlived a call. */
export interface LongChange extends LongOperation {
  /** When it is ended, in epoch milliseconds. */
  readonly endMs: number;
}

/** How a long change ended. */
export interface LongEnd {
  readonly key: string;
  readonly digest: string;
  readonly operation: LongOperation;
  /** Undefined: it ended well. */
  readonly failure: { readonly error: unknown } | undefined;
  /** False: a caller heard of it, or nobody needs to. */
  readonly isUnreported: boolean;
}

/** Longest time that work may outlive its call; clouds take up to 20 minutes for a load balancer. */
export const maxOperationMs = 1_800_000;

/** Most pieces of work that outlive their calls; beyond it callers wait until their deadlines. */
const maxLongChanges = 100;

/** How many ends are remembered, and for how long. */
const memory = { maxEntries: 1_000, maxAgeMs: 600_000 } as const;

/** The changes that go on after the calls that asked for them were answered, and how those ended that did. */
export class LongChanges {
  readonly #options: LongChangesOptions;
  /** By key: failures that nobody was told. */
  readonly #failures: LruMap<{ readonly digest: string; readonly error: unknown }>;
  /** By id. */
  readonly #succeeded: LruMap<true>;
  readonly #running = new Set<SharedTask<unknown>>();
  #begun = 0;

  constructor(options: LongChangesOptions) {
    this.#options = options;
    const bounds = { ...memory, nowMs: options.clock.nowMs };
    this.#failures = new LruMap(bounds);
    this.#succeeded = new LruMap(bounds);
    const { draining } = options;
    draining.addEventListener("abort", () => this.#running.forEach((task) => task.abandon(draining.reason)), {
      once: true,
    });
  }

  /** Lets work go on without its callers; undefined: it may not. */
  begin(task: SharedTask<unknown>): LongChange | undefined {
    const { clock, bootId, draining } = this.#options;
    if (draining.aborted || this.#running.size >= maxLongChanges) return undefined;
    task.outlive();
    void this.#limit(task);
    const nowMs = clock.nowMs();
    return {
      id: longOperationId(bootId, ++this.#begun),
      startTime: new Date(nowMs),
      endMs: nowMs + maxOperationMs,
    };
  }

  async #limit(task: SharedTask<unknown>): Promise<void> {
    this.#running.add(task);
    const cancel = this.#options.clock.after(maxOperationMs, () =>
      task.abandon(new ProviderError("DEADLINE_PASSED", `it did not end within ${maxOperationMs / 60_000} minutes`)),
    );
    await task.settled;
    cancel();
    this.#running.delete(task);
  }

  /** Remembers how one ended. */
  ended({ key, digest, operation, failure, isUnreported }: LongEnd): void {
    if (failure === undefined) this.#succeeded.set(operation.id, true);
    if (failure === undefined || !isUnreported) return;
    this.#options.log.warn("A change failed after its call was answered; the next call about it is told", {
      key,
      ...failure,
    });
    this.#failures.set(key, { digest, error: failure.error });
  }

  /** True: a change of this key failed, and nobody was told so far. */
  hasFailed(key: string): boolean {
    return this.#failures.get(key) !== undefined;
  }

  /** True: the one with this id has ended well, not long ago. */
  hasSucceeded(operationId: string): boolean {
    return this.#succeeded.get(operationId) ?? false;
  }

  /** Throws the failure of an equal wish that nobody was told. Once: the next who asks tries anew. */
  throwUnreported(key: string, digest: string): void {
    const failure = this.#failures.get(key);
    this.#failures.delete(key);
    if (failure?.digest === digest) throw failure.error;
  }
}

/** Work that goes on after the calls that asked for it were answered. */
export interface LongOperation {
  /** Made by the SDK: it tells its own ids from the vendor's, and those of an earlier process. */
  readonly id: string;
  readonly startTime: Date;
}

/** What is known of the long work on one object. */
export type LongOperationState =
  | { readonly kind: "running"; readonly operation: LongOperation }
  /** It failed, and no caller was told so far. */
  | { readonly kind: "failed" };

const prefix = "cloudwire-operation/";

/** The id of the n-th long operation of a process. */
const longOperationId = (bootId: string, count: number): string => `${prefix}${bootId}/${count}`;

/** True: the SDK made it, in this process or another. Providers are never shown one. */
export const isLongOperationId = (id: string): boolean => id.startsWith(prefix);
