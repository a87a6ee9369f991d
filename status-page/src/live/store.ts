import { hasAllRows, EMPTY_STATE, onEvent, onOpen, type StreamState } from "../model/stream-state.ts";
import { retryDelayMs } from "../model/retry-delay.ts";
import { Attention } from "./attention.ts";
import { readStream } from "./stream.ts";

export type Connection =
  /** Not all data has arrived on this connection; the page may show old data. */
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** What is shown is from before. */
  | { readonly kind: "lost"; readonly reason: string; readonly sinceMs: number; readonly retryAtMs: number };

export interface AppState {
  readonly stream: StreamState;
  readonly connection: Connection;
  /** How far the controller's clock is ahead of this one. */
  readonly clockAheadMs: number;
}

/** So that a server which ends each stream at once is not asked without a pause. */
const AFTER_AN_END_MS = 250;

/** What the page knows, kept up to date for as long as it is open. */
export class Store {
  #state: AppState = { stream: EMPTY_STATE, connection: { kind: "connecting" }, clockAheadMs: 0 };
  readonly #attention = new Attention();
  readonly #listeners = new Set<() => void>();
  #isScheduled = false;
  #lostSinceMs: number | undefined;
  #wakeUp: () => void = () => undefined;

  get state(): AppState {
    return this.#state;
  }

  /** Called once a frame at most. Answers what ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Does not wait for the next try any longer. */
  retryNow(): void {
    this.#wakeUp();
  }

  /** Follows the stream, and reconnects with growing delays while the page is visible. */
  async follow(): Promise<never> {
    let failures = 0;
    for (;;) {
      const { signal } = this.#attention;
      try {
        await readStream({ opened: () => this.#opened(), event: (name, data) => this.#take(name, data) }, signal);
        if (this.#isUpToDate()) {
          // A regular end, not a lost connection.
          failures = 0;
          await sleep(AFTER_AN_END_MS);
          continue;
        }
        throw new Error("the controller ended the connection");
      } catch (error) {
        if (signal.aborted) {
          await this.#attention.seen();
          failures = 0;
          this.#update({ connection: { kind: "connecting" } });
          continue;
        }
        failures = this.#isUpToDate() ? 1 : failures + 1;
        await this.#wait(error instanceof Error ? error.message : String(error), failures);
      }
    }
  }

  #opened(): void {
    const { connection, stream } = this.#state;
    this.#update({
      stream: onOpen(stream),
      connection: connection.kind === "lost" ? { kind: "connecting" } : connection,
    });
  }

  /** Whether the last connection had sent everything. */
  #isUpToDate(): boolean {
    const { connection, stream } = this.#state;
    return connection.kind === "live" && hasAllRows(stream);
  }

  async #wait(reason: string, failures: number): Promise<void> {
    const delayMs = retryDelayMs(failures, Math.random());
    this.#lostSinceMs ??= Date.now();
    this.#update({ connection: { kind: "lost", reason, sinceMs: this.#lostSinceMs, retryAtMs: Date.now() + delayMs } });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(name: string, data: string): void {
    const stream = onEvent(this.#state.stream, name, data);
    const { overview } = stream;
    const isNew = overview !== undefined && overview !== this.#state.stream.overview;
    if (hasAllRows(stream)) this.#lostSinceMs = undefined;
    this.#update({
      stream,
      ...(isNew ? { clockAheadMs: Date.parse(overview.time) - Date.now() } : {}),
      ...(hasAllRows(stream) ? { connection: { kind: "live" } } : {}),
    });
  }

  #update(change: Partial<AppState>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
