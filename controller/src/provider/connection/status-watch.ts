import { childSignal, sleep } from "../../util/abort.ts";
import { Backoff } from "../../util/backoff.ts";
import type { Clock } from "../../util/clock.ts";
import type { ConnectionLog } from "./log.ts";
import { asProviderError, isProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { ProviderStatus } from "../model/status.ts";

/** Delay after the first status that is not ready; it doubles. */
const FIRST_WAIT_MS = 1000;

/** Unanswered status calls after which another host counts as gone: a lost power supply or route causes no error. */
const SILENT_CALLS = 2;

export interface StatusWatchDeps {
  readonly clock: Clock;
  readonly log: Pick<ConnectionLog, "status" | "statusFailed">;
  /** Interval while the provider is ready, and longest interval while it is not. proto/README.md STA-1. */
  readonly readyMs: number;
  readonly notReadyMs: number;
  readonly ask: (info: ProviderInfo, signal: AbortSignal) => Promise<ProviderStatus>;
  /** The cloud is usable again. */
  readonly onRecovered: (info: ProviderInfo) => void;
  /** The handshake is outdated for that reason. */
  readonly onOutdated: (why: string) => void;
  readonly onSilent: () => void;
}

/** Polls a provider's status while it is connected, and keeps the last one across connections. */
export class StatusWatch {
  readonly #deps: StatusWatchDeps;
  last: ProviderStatus | undefined;
  /** Failed calls in a row. */
  failures = 0;
  /** The last status was not ready or failed. */
  #wasUnready = false;
  #isWanted = false;
  #hurry: () => void = () => undefined;

  constructor(deps: StatusWatchDeps) {
    this.#deps = deps;
  }

  /** Polls as soon as the provider allows. */
  askSoon(): void {
    this.#isWanted = true;
    this.#hurry();
  }

  /** Polls until `signal` aborts; `info` is the current handshake. */
  async run(info: ProviderInfo, signal: AbortSignal): Promise<void> {
    const { clock, readyMs, notReadyMs } = this.#deps;
    // A cloud that is unreachable at first is often reachable soon after.
    const notReady = new Backoff({ initialMs: FIRST_WAIT_MS, maxMs: notReadyMs }, () => 0);
    while (!signal.aborted) {
      this.#isWanted = false;
      await this.#ask(info, signal);
      const isReady = this.failures === 0 && this.last?.ready === true;
      if (isReady) notReady.reset();
      const leastMs = info.limits.minStatusIntervalMs;
      const waitMs = Math.max(isReady ? readyMs : notReady.nextMs(), leastMs);
      await sleep(leastMs, signal, clock).catch(() => undefined);
      if (!this.#isWanted) await this.#nap(waitMs - leastMs, signal);
    }
  }

  async #nap(durationMs: number, signal: AbortSignal): Promise<void> {
    using nap = childSignal(signal);
    this.#hurry = () => nap.abort(new Error("the status is wanted now"));
    await sleep(durationMs, nap.signal, this.#deps.clock).catch(() => undefined);
  }

  async #ask(info: ProviderInfo, signal: AbortSignal): Promise<void> {
    const { ask, log } = this.#deps;
    try {
      const status = await ask(info, signal);
      this.last = status;
      this.failures = 0;
      log.status(status);
      this.#compare(info, status);
      this.#wasUnready = !status.ready;
    } catch (error) {
      if (signal.aborted) return;
      this.#wasUnready = true;
      this.failures++;
      log.statusFailed(asProviderError(error), this.failures);
      const isSilent = isProviderError(error, "DEADLINE_EXCEEDED") || isProviderError(error, "UNAVAILABLE");
      if (isSilent && this.failures >= SILENT_CALLS) this.#deps.onSilent();
    }
  }

  /** An empty scope says nothing: the provider has not reached its cloud yet. */
  #compare(info: ProviderInfo, { bootId, scopeId, ready }: ProviderStatus): void {
    const { onOutdated, onRecovered } = this.#deps;
    if (bootId !== info.bootId) onOutdated("the provider is another process than at the handshake");
    else if (scopeId !== "" && scopeId !== info.scopeId)
      onOutdated("the provider works in another scope than at the handshake");
    else if (ready && this.#wasUnready) onRecovered(info);
  }
}
