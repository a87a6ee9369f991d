import type { GetProviderStatusResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { toWireCondition } from "../convert/common.ts";
import type { Condition } from "../definition/common.ts";
import type { CheckResult, ProviderDefinition } from "../definition/provider.ts";
import { classifyError } from "../errors/classify.ts";
import type { ProviderError } from "../errors/provider-error.ts";
import type { Logger } from "../log/logger.ts";
import { fetchWith } from "../util/fetch-with.ts";
import { orAborted } from "../util/or-aborted.ts";
import type { CloudOutcome } from "./call-recorder.ts";

/** What a monitor needs. */
export interface StatusMonitorOptions {
  readonly definition: Pick<ProviderDefinition, "scope" | "check">;
  readonly bootId: string;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly goodIntervalMs: number;
  readonly badIntervalMs: number;
  /** Longest time one check may take. */
  readonly timeoutMs: number;
}

/** Intervals of the check. Contract, section 5.2. */
export const defaultIntervals = { goodIntervalMs: 60_000, badIntervalMs: 10_000, timeoutMs: 10_000 } as const;

/** Runs `check()` and `scope()` in the background and answers status from what they and real calls found. */
export class StatusMonitor {
  readonly #options: StatusMonitorOptions;
  readonly #stop = new AbortController();
  readonly #conditions = new Map<string, Condition>();
  #scopeId: string | undefined;
  #lastResult: CheckResult = {};
  #lastSuccessMs: number | undefined;
  #checked = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: StatusMonitorOptions) {
    this.#options = options;
    if (typeof options.definition.scope === "string") this.#scopeId = options.definition.scope;
    this.#set("CloudReachable", undefined, "NotChecked", "The cloud has not been asked yet");
    this.#set("CredentialsValid", undefined, "NotChecked", "The cloud has not been asked yet");
  }

  /** What the credentials reach; undefined until `scope()` has answered once. */
  get scopeId(): string | undefined {
    return this.#scopeId;
  }

  /** True: calls can be expected to work. */
  get ready(): boolean {
    return (
      this.#checked &&
      this.#scopeId !== undefined &&
      this.#conditions.get("CloudReachable")?.status === true &&
      this.#conditions.get("CredentialsValid")?.status === true
    );
  }

  /** Begins; resolves when the first check has ended, either way. */
  start(): Promise<void> {
    return this.#run();
  }

  /** Ends: no check runs after it. */
  async stop(): Promise<void> {
    this.#stop.abort(new DOMException("The provider has shut down", "AbortError"));
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Takes what a real call found. A failure brings the next check forward. */
  observe(outcome: CloudOutcome): void {
    const wasReady = this.ready;
    if (outcome.kind === "success") this.#succeeded();
    else this.#failed(outcome.error);
    if (wasReady && !this.ready) this.#schedule(this.#options.badIntervalMs);
  }

  /** The answer of GetProviderStatus. */
  status(): GetProviderStatusResponse {
    const { rateLimits = [], configRevision, credentialsExpireTime } = this.#lastResult;
    return {
      ready: this.ready,
      bootId: this.#options.bootId,
      scopeId: this.#scopeId ?? "",
      configRevision: configRevision ?? "",
      conditions: [...this.#conditions.values()].map(toWireCondition),
      lastCloudSuccessTime: this.#lastSuccessMs === undefined ? undefined : new Date(this.#lastSuccessMs),
      credentialsExpireTime,
      rateLimits: rateLimits.map((limit) => ({
        name: limit.name,
        limit: BigInt(limit.limit),
        remaining: BigInt(limit.remaining),
        resetTime: limit.resetTime,
      })),
    };
  }

  async #run(): Promise<void> {
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
    this.#schedule(this.ready ? this.#options.goodIntervalMs : this.#options.badIntervalMs);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#run(), delayMs);
    // The server's sockets keep the process alive, not this.
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const { definition, log, timeoutMs } = this.#options;
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const context = { signal, log, fetch: fetchWith(signal) };
      const { scope, check } = definition;
      if (typeof scope !== "string") this.#setScope(await orAborted(Promise.resolve(scope(context)), signal));
      this.#accept((await orAborted(Promise.resolve(check(context)), signal)) ?? {});
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      const { error } = classifyError(thrown, { mutation: false, correlationId: "this entry" });
      log.warn("The check of the cloud failed", { reason: error.reason, error: thrown });
      this.#checkFailed(error);
    }
  }

  #setScope(scopeId: string): void {
    if (this.#scopeId !== undefined && this.#scopeId !== scopeId)
      this.#options.log.error("The scope has changed: the controller stops every destructive act", {
        from: this.#scopeId,
        to: scopeId,
      });
    this.#scopeId = scopeId;
  }

  #accept(result: CheckResult): void {
    this.#checked = true;
    this.#lastResult = result;
    this.#succeeded();
    for (const { type, status, reason, message } of result.conditions ?? []) this.#set(type, status, reason, message);
  }

  #succeeded(): void {
    this.#lastSuccessMs = this.#options.nowMs();
    this.#set("CloudReachable", true, "CloudAnswered", "The cloud answers");
    this.#set("CredentialsValid", true, "CloudAnswered", "The cloud accepts the credentials");
  }

  #checkFailed(error: ProviderError): void {
    this.#checked = true;
    if (!this.#failed(error)) this.#set("CloudReachable", false, "CheckFailed", error.message);
  }

  /** True: the error says something about the cloud as a whole. */
  #failed(error: ProviderError): boolean {
    if (error.grpcCode === 16) {
      this.#set("CredentialsValid", false, "CredentialsRefused", error.message);
      return true;
    }
    if (error.reason !== "CLOUD_UNAVAILABLE" && error.reason !== "CLOUD_TIMEOUT") return false;
    this.#set("CloudReachable", false, "CloudUnavailable", error.message);
    return true;
  }

  #set(type: string, status: boolean | undefined, reason: string | undefined, message: string | undefined): void {
    const before = this.#conditions.get(type);
    const lastTransitionTime =
      before && before.status === status ? before.lastTransitionTime : new Date(this.#options.nowMs());
    this.#conditions.set(type, { type, status, reason, message, lastTransitionTime });
  }
}
