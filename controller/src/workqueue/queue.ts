/** Where a waiting key stands in line: what creates, deletes or initialises goes before what merely refreshes. */
export type Priority = "high" | "low";

export interface AddOptions {
  /** A key waiting as low moves up when it is added as high; never down. @default "high" */
  readonly priority?: Priority;
}

/**
 * Keys waiting for work. A key is in it at most once and with one worker at most; added while worked on, it comes again afterwards.
 */
export interface Workqueue {
  add(key: string, options?: AddOptions): void;
  /** Adds after `delayMs`. Of several waiting adds of one key the earliest counts. */
  addAfter(key: string, delayMs: number, options?: AddOptions): void;
  /** Counts a failure of the key and adds it after the rate limiter's delay. */
  addRateLimited(key: string, options?: AddOptions): void;
  /** Sets the failure count of the key back to none. */
  forget(key: string): void;
  failures(key: string): number;
  /** Next key; waits for one. undefined once the queue is shut down and, if draining, empty, or when `signal` aborts. */
  get(signal: AbortSignal): Promise<WorkItem | undefined>;
  /** The worker has finished with the key. */
  done(key: string): void;
  /** Keys ready to be worked on. */
  readonly depth: number;
  /** No more adds; waiting keys are dropped, workers are let go. */
  shutDown(): void;
  /** No more adds; resolves when every key in work and in line has been worked on, or `signal` aborts. */
  drain(signal: AbortSignal): Promise<void>;
}

export interface WorkItem {
  readonly key: string;
  readonly priority: Priority;
}
