import type { GetProviderStatusResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { toWireCondition } from "./convert/common.ts";
import type { CloudFetcher } from "../cloud/cloud-fetch.ts";
import type { BackgroundContext, CloudCall } from "../definition/call-context.ts";
import type { Condition } from "../definition/common.ts";
import type { CheckResult, ProviderDefinition, RateLimit } from "../definition/provider.ts";
import { classifyError } from "../results/classify.ts";
import { ProviderError } from "../results/errors.ts";
import { type Logger, redactText } from "../telemetry/log.ts";
import { type Clock, orAborted } from "../util/clock.ts";
import type { CloudOutcome } from "../telemetry/call-recorder.ts";
import { withinContext } from "./current-context.ts";

/** What a monitor needs. */
export interface StatusMonitorOptions {
  readonly definition: Pick<ProviderDefinition, "scope" | "check">;
  readonly bootId: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly cloud: CloudFetcher;
  /** Called after each request to the cloud. */
  readonly cloudCalled: (call: CloudCall) => void;
  readonly goodIntervalMs: number;
  readonly badIntervalMs: number;
  /** Longest time one check may take. */
  readonly timeoutMs: number;
}

/** Intervals of the check. Contract, section 5.2. */
export const defaultIntervals = { goodIntervalMs: 60_000, badIntervalMs: 10_000, timeoutMs: 10_000 } as const;

/** Conditions without which nothing works. */
const decisive = new Set(["CloudReachable", "CredentialsValid"]);

/** Runs `check()` and `scope()` in the background and answers status from what they and real calls found. */
export class StatusMonitor {
  readonly #options: StatusMonitorOptions;
  readonly #stop = new AbortController();
  readonly #conditions = new Map<string, Condition>();
  #scopeId: string | undefined;
  #lastResult: CheckResult = {};
  #lastSuccessMs: number | undefined;
  #checked = false;
  #cancelNext: () => void = () => undefined;
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

  /** Why calls cannot be expected to work; undefined: they can. */
  get whyNotReady(): string | undefined {
    if (this.ready) return undefined;
    const untrue = [...this.#conditions.values()].filter(({ type, status }) => decisive.has(type) && status !== true);
    const reported = untrue.map(({ type, reason, message }) => `${type}: ${reason}: ${message}`);
    return [...reported, ...(this.#scopeId === undefined ? ["the scope is not known yet"] : [])].join("\n");
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
    this.#cancelNext();
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
    const { configRevision, credentialsExpireTime } = this.#lastResult;
    return {
      ready: this.ready,
      bootId: this.#options.bootId,
      scopeId: this.#scopeId ?? "",
      configRevision: configRevision ?? "",
      conditions: [...this.#conditions.values()].map(toWireCondition),
      lastCloudSuccessTime: this.#lastSuccessMs === undefined ? undefined : new Date(this.#lastSuccessMs),
      credentialsExpireTime,
      rateLimits: this.#rateLimits().map((limit) => ({
        name: limit.name,
        limit: BigInt(limit.limit),
        remaining: BigInt(limit.remaining),
        resetTime: limit.resetTime,
      })),
    };
  }

  /** The provider's own word first; what headers showed has the names of hosts. */
  #rateLimits(): readonly RateLimit[] {
    const reported = this.#lastResult.rateLimits ?? [];
    const names = new Set(reported.map(({ name }) => name));
    return [...reported, ...this.#options.cloud.rateLimits.current.filter(({ name }) => !names.has(name))];
  }

  async #run(): Promise<void> {
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
    this.#schedule(this.ready ? this.#options.goodIntervalMs : this.#options.badIntervalMs);
  }

  #schedule(delayMs: number): void {
    this.#cancelNext();
    if (this.#stop.signal.aborted) return;
    this.#cancelNext = this.#options.clock.after(delayMs, () => void this.#run());
  }

  async #check(): Promise<void> {
    const { definition, log, timeoutMs, clock } = this.#options;
    const late = new AbortController();
    const cancelTimeout = clock.after(timeoutMs, () =>
      late.abort(new DOMException(`The check did not end within ${timeoutMs} ms`, "TimeoutError")),
    );
    const signal = AbortSignal.any([this.#stop.signal, late.signal]);
    try {
      const context = this.#context(signal);
      await withinContext(context, () => this.#ask(definition, context));
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      const { error } = classifyError(thrown, { mutation: false, correlationId: "this entry" });
      log.warn("The check of the cloud failed", { reason: error.reason, error: thrown });
      this.#checkFailed(error);
    } finally {
      cancelTimeout();
    }
  }

  async #ask({ scope, check }: StatusMonitorOptions["definition"], context: BackgroundContext): Promise<void> {
    const { signal } = context;
    if (typeof scope !== "string") this.#setScope(await orAborted(Promise.resolve(scope(context)), signal));
    this.#accept((await orAborted(Promise.resolve(check(context)), signal)) ?? {});
  }

  /** The cost of a check counts for no call. The monitor reports its failure itself. */
  #context(signal: AbortSignal): BackgroundContext {
    const { cloud, cloudCalled, clock, log, timeoutMs } = this.#options;
    const endMs = clock.nowMs() + timeoutMs;
    const remainingMs = () => endMs - clock.nowMs();
    const callScope = { signal, remainingMs, tried: cloudCalled, ended: () => undefined };
    return { signal, log, fetch: (input, init) => cloud.fetch(input, init, callScope) };
  }

  #setScope(answer: unknown): void {
    const scopeId = checkedScope(answer);
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
    this.#lastSuccessMs = this.#options.clock.nowMs();
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

  #set(type: string, status: boolean | undefined, reason: string | undefined, reported: string | undefined): void {
    const message = reported === undefined ? undefined : redactText(reported);
    const before = this.#conditions.get(type);
    const lastTransitionTime =
      before && before.status === status ? before.lastTransitionTime : new Date(this.#options.clock.nowMs());
    this.#conditions.set(type, { type, status, reason, message, lastTransitionTime });
  }
}

/** Longest scope. Contract: GetProviderInfoResponse.scope_id. */
const maxScopeBytes = 253;

/** An answer that names nothing must not pass for another account: the controller would stop all that it does. */
const checkedScope = (answer: unknown): string => {
  if (typeof answer === "string" && answer !== "" && Buffer.byteLength(answer) <= maxScopeBytes) return answer;
  throw new ProviderError(
    "INVARIANT_BROKEN",
    `scope() must name what the credentials reach, in 1 to ${maxScopeBytes} bytes`,
  );
};
