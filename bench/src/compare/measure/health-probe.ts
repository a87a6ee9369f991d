import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Pages } from "../peers/peers.ts";

const EVERY_MS = 100;
/** An answer that takes longer counts as this long. */
const TIMEOUT_MS = 10_000;

/** Asks a health page again and again, as a kubelet does, and remembers how long each answer took. */
export class HealthProbe implements AsyncDisposable {
  readonly #agent = new Agent({ connections: 1, connect: { rejectUnauthorized: false } });
  readonly #stop = new AbortController();
  #answersMs: number[] = [];
  #hasAnswered = false;
  readonly #ended: Promise<void>;

  /** @param pages once they are known */
  constructor(pages: Promise<Pages>) {
    // That there is no page is seen by there being no answers.
    this.#ended = pages.then(({ health }) => this.#ask(health)).catch(() => undefined);
  }

  /** How long each answer took, since the first that came or since the last call of forget(). */
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

  /** Whatever it says: an unhealthy one answers, too. */
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
