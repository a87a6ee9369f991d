import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Pages } from "../peers/peers.ts";

const EVERY_MS = 100;
/** Upper limit of the recorded duration of a response. */
const TIMEOUT_MS = 10_000;

/** Probes a health endpoint repeatedly, as a kubelet does, and records the duration of each response. */
export class HealthProbe implements AsyncDisposable {
  readonly #agent = new Agent({ connections: 1, connect: { rejectUnauthorized: false } });
  readonly #stop = new AbortController();
  #answersMs: number[] = [];
  #hasAnswered = false;
  readonly #ended: Promise<void>;

  /** @param pages once they are known */
  constructor(pages: Promise<Pages>) {
    // A missing endpoint shows as missing responses.
    this.#ended = pages.then(({ health }) => this.#ask(health)).catch(() => undefined);
  }

  /** Duration of each response, since the first one or the last call of forget(). */
  get answersMs(): readonly number[] {
    return this.#answersMs;
  }

  forget(): void {
    this.#answersMs = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#agent.destroy();
    // The page may never become known.
    await Promise.race([this.#ended, wait(TIMEOUT_MS, undefined, { ref: false })]);
  }

  async #ask(url: string): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const startMs = performance.now();
      const answered = await this.#answered(url);
      const tookMs = performance.now() - startMs;
      // Before the page is there for the first time, the program is starting.
      this.#hasAnswered ||= answered;
      if (!signal.aborted && this.#hasAnswered) this.#answersMs.push(answered ? tookMs : TIMEOUT_MS);
      await wait(Math.max(0, EVERY_MS - tookMs), undefined, { signal });
    }
  }

  /** Any status: an unhealthy response counts, too. */
  async #answered(url: string): Promise<boolean> {
    try {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const { body } = await request(url, { dispatcher: this.#agent, signal });
      await body.dump();
      return true;
    } catch {
      return false;
    }
  }
}
