import { childSignal, sleep } from "../../util/abort.ts";
import { Backoff } from "../../util/backoff.ts";
import type { Clock } from "../../util/clock.ts";
import type { ConnectionLog } from "./log.ts";
import { asProviderError, isProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { ProviderStatus } from "../model/status.ts";

/** Wait after the first status that is not ready; it doubles from there. */
const FIRST_WAIT_MS = 1000;

/** Status calls without answer after which another host is taken for gone: nothing tells of a peer that lost its power or its route. */
const SILENT_CALLS = 2;

export interface StatusWatchDeps {
  readonly clock: Clock;
  readonly log: Pick<ConnectionLog, "status" | "statusFailed">;
  /** Between two calls while the provider is ready, and while it is not, at the most. proto/README.md STA-1. */
  readonly readyMs: number;
  readonly notReadyMs: number;
  readonly ask: (info: ProviderInfo, signal: AbortSignal) => Promise<ProviderStatus>;
  /** The cloud can be used again. */
  readonly onRecovered: (info: ProviderInfo) => void;
  /** The handshake is out of date, with why. */
  readonly onOutdated: (why: string) => void;
  /** Nothing has been heard for a while. */
  readonly onSilent: () => void;
}

/** Asks a provider after its health for as long as it is connected, and remembers over connections what it said last. */
export class StatusWatch {
  readonly #deps: StatusWatchDeps;
  #last: ProviderStatus | undefined;
  #failures = 0;
  /** A status said that the cloud cannot be used, or failed, since the cloud last could be. */
  #wasUnwell = false;
  #isWanted = false;
  #hurry: () => void = () => undefined;

  constructor(deps: StatusWatchDeps) {
    this.#deps = deps;
  }

  get last(): ProviderStatus | undefined {
    return this.#last;
  }

  /** Calls that failed in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** An answer of another kind has shown that the provider is there. */
  heard(): void {
    this.#failures = 0;
  }

  /** Asks at once, or as soon as the provider allows, rather than when it is time. */
  askSoon(): void {
    this.#isWanted = true;
    this.#hurry();
  }

  /** Asks until `signal` aborts; `info` is of the handshake that holds meanwhile. */
  async run(info: ProviderInfo, signal: AbortSignal): Promise<void> {
    const { clock, readyMs, notReadyMs } = this.#deps;
    // A cloud that is not reached at first often is a moment later.
    const notReady = new Backoff({ initialMs: FIRST_WAIT_MS, maxMs: notReadyMs }, () => 0);
    while (!signal.aborted) {
      this.#isWanted = false;
      await this.#ask(info, signal);
      const isWell = this.#failures === 0 && this.#last?.ready === true;
      if (isWell) notReady.reset();
      const leastMs = info.limits.minStatusIntervalMs;
      const waitMs = Math.max(isWell ? readyMs : notReady.nextMs(), leastMs);
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
      this.#last = status;
      this.#failures = 0;
      log.status(status);
      this.#compare(info, status);
      this.#wasUnwell = !status.ready;
    } catch (error) {
      if (signal.aborted) return;
      this.#wasUnwell = true;
      this.#failures++;
      log.statusFailed(asProviderError(error), this.#failures);
      const isSilent = isProviderError(error, "DEADLINE_EXCEEDED") || isProviderError(error, "UNAVAILABLE");
      if (isSilent && this.#failures >= SILENT_CALLS) this.#deps.onSilent();
    }
  }

  /** An empty scope says nothing: the provider has not reached its cloud yet. */
  #compare(info: ProviderInfo, { bootId, scopeId, ready }: ProviderStatus): void {
    const { onOutdated, onRecovered } = this.#deps;
    if (bootId !== info.bootId) onOutdated("the provider is another process than at the handshake");
    else if (scopeId !== "" && scopeId !== info.scopeId)
      onOutdated("the provider works in another scope than at the handshake");
    else if (ready && this.#wasUnwell) onRecovered(info);
  }
}
