import { HANDOVER_CANDIDATE, HANDOVER_REQUESTED } from "../api/annotations.ts";
import type { Sidecar } from "../provider/sidecar.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { isRecord, stringField, stringsField } from "../util/json.ts";

export interface WatchedProvider extends Pick<Sidecar, "name" | "untrustedReason" | "askStatus"> {
  readonly status: { readonly receivedAtMs: number } | undefined;
}

export interface HandoverDependencies {
  readonly identity: string;
  readonly providers: readonly WatchedProvider[];
  /** How long a provider must be unusable before a request (--leader-elect-provider-timeout). 0: never. */
  readonly timeoutMs: number;
  /** How long a candidate with fewer usable providers leaves a free Lease to others. */
  readonly deferMs: number;
  readonly isWarm: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: HandoverMetrics;
  /** A handover is requested; `message` says why. */
  readonly onRequest: (message: string) => void;
  /** Called once when this process must stop leading; `message` says why. */
  readonly onHandover: (message: string) => void;
}

/** A candidate counts a provider that has been usable for this long, or for the timeout if that is shorter. */
const STEADY_MS = 10_000;

/** Hands leadership over to a replica that can use a provider which the leader has lost. Both write annotations to the Lease. */
export class HandoverAnnotation implements LeaseAnnotation {
  readonly #deps: HandoverDependencies;
  readonly #since = new Map<string, { isUsable: boolean; monotonicMs: number; wallMs: number }>();
  #holderIdentity = "";
  #request: HandoverRequest | undefined;
  /** The request on the Lease, and the wall-clock time when this process first read it. */
  #seen: { readonly text: string | undefined; readonly atMs: number } = { text: undefined, atMs: 0 };
  #candidate: HandoverCandidate | undefined;
  #isRequesting = false;
  #isEnding = false;
  #logged = "";

  constructor(dependencies: HandoverDependencies) {
    this.#deps = dependencies;
    dependencies.metrics.requesting(false);
  }

  read(annotations: Readonly<Record<string, string>>, holderIdentity: string): void {
    this.#holderIdentity = holderIdentity;
    this.#request = parseRequest(annotations[HANDOVER_REQUESTED]);
    this.#candidate = parseCandidate(annotations[HANDOVER_CANDIDATE]);
    this.#see(annotations[HANDOVER_REQUESTED]);
    this.#updateProviders();
    if (holderIdentity !== this.#deps.identity) return;
    const decision = this.#decide();
    if (decision.kind === "handover") this.#end(decision.request, decision.candidate);
  }

  write(): Readonly<Record<string, string | undefined>> {
    // A new leader removes the annotations of the previous one.
    if (this.#holderIdentity !== this.#deps.identity)
      return { [HANDOVER_REQUESTED]: undefined, [HANDOVER_CANDIDATE]: undefined };
    // Both must outlive this process: they name the next leader.
    if (this.#isEnding) return {};
    this.#updateProviders();
    const decision = this.#decide();
    this.#report(decision);
    const request = decision.kind === "stay" ? undefined : JSON.stringify(decision.request);
    return { [HANDOVER_REQUESTED]: request, [HANDOVER_CANDIDATE]: undefined };
  }

  propose(): Readonly<Record<string, string>> {
    const { identity, isWarm, timeoutMs, log } = this.#deps;
    const request = this.#request;
    const candidate = decideAsStandby({
      identity,
      holderIdentity: this.#holderIdentity,
      request,
      candidate: this.#candidate,
      providers: this.#uses().filter(({ name }) => this.#isStatusNew(name)),
      isWarm: isWarm(),
      steadyMs: timeoutMs === 0 ? STEADY_MS : Math.min(STEADY_MS, timeoutMs),
    });
    if (candidate === undefined) return {};
    const text = JSON.stringify(request);
    if (text !== this.#logged)
      log.info("Became candidate for leadership", {
        leader: candidate.leader,
        unavailableProviders: request?.unavailableProviders,
      });
    this.#logged = text;
    return { [HANDOVER_CANDIDATE]: JSON.stringify(candidate) };
  }

  deferMs(): number {
    const { identity, timeoutMs, deferMs, providers } = this.#deps;
    if (timeoutMs === 0) return 0;
    const isOtherCandidate = this.#candidate !== undefined && this.#candidate.identity !== identity;
    // A provider that the last leader could not use either is no reason to wait.
    const isWorse = providers.some(
      ({ name, untrustedReason }) =>
        untrustedReason !== undefined && !this.#request?.unavailableProviders.includes(name),
    );
    return isOtherCandidate || isWorse ? deferMs : 0;
  }

  /** A status from before the request does not count: an outage of the cloud may not be known here yet. */
  #see(text: string | undefined): void {
    if (text === this.#seen.text) return;
    this.#seen = { text, atMs: this.#deps.clock.nowMs() };
    if (text === undefined || this.#holderIdentity === this.#deps.identity) return;
    for (const provider of this.#deps.providers) provider.askStatus();
  }

  #isStatusNew(name: string): boolean {
    const status = this.#deps.providers.find((provider) => provider.name === name)?.status;
    return status !== undefined && status.receivedAtMs >= this.#seen.atMs;
  }

  #decide(): LeaderDecision {
    const { identity, timeoutMs } = this.#deps;
    return decideAsLeader({ identity, providers: this.#uses(), candidate: this.#candidate, timeoutMs });
  }

  #updateProviders(): void {
    const { providers, clock } = this.#deps;
    for (const { name, untrustedReason } of providers) {
      const isUsable = untrustedReason === undefined;
      if (this.#since.get(name)?.isUsable === isUsable) continue;
      this.#since.set(name, { isUsable, monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
    }
  }

  #uses(): readonly ProviderUse[] {
    const nowMs = this.#deps.clock.monotonicMs();
    return [...this.#since].map(([name, { isUsable, monotonicMs, wallMs: sinceMs }]) => {
      return { name, isUsable, forMs: nowMs - monotonicMs, sinceMs };
    });
  }

  #report(decision: LeaderDecision): void {
    const { log, metrics, providers, onRequest } = this.#deps;
    const isRequesting = decision.kind !== "stay";
    if (isRequesting === this.#isRequesting) return;
    this.#isRequesting = isRequesting;
    metrics.requesting(isRequesting);
    if (decision.kind === "stay") return log.info("Withdrew the request for a leadership handover");
    const { unavailableProviders, time } = decision.request;
    log.warn("Requested a leadership handover", { unavailableProviders, time });
    const reasons = providers
      .filter(({ name }) => unavailableProviders.includes(name))
      .map(({ name, untrustedReason = "usable again" }) => `provider ${name} (${untrustedReason})`);
    onRequest(`cannot use ${reasons.join(", ")} since ${time}; requests a handover to a replica that can`);
  }

  #end({ unavailableProviders }: HandoverRequest, candidate: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#deps.log.warn("Handing over leadership", { unavailableProviders, candidate });
    this.#deps.onHandover(`hands over leadership to ${candidate}, which can use ${unavailableProviders.join(", ")}`);
  }
}

export type HandoverMetrics = ReturnType<typeof handoverMetrics>;

export function handoverMetrics(metrics: Metrics) {
  const gauge = metrics.gauge({
    name: "cloudwire_leader_handover_requested",
    help: "1 while this leader requests a leadership handover because a provider has been unavailable for longer than --leader-elect-provider-timeout.",
    labels: [],
  });
  return { requesting: (isRequesting: boolean): void => gauge.set({}, isRequesting ? 1 : 0) };
}

/** One provider as one replica sees it. */
export interface ProviderUse {
  readonly name: string;
  readonly isUsable: boolean;
  /** How long the state has lasted without interruption. */
  readonly forMs: number;
  /** Start of the state, by the wall clock. */
  readonly sinceMs: number;
}

export interface HandoverRequest {
  /** Identity of the leader; the request of a previous leader is ignored. */
  readonly leader: string;
  /** RFC 3339, informational. */
  readonly time: string;
  /** Providers that the leader could not use for longer than the timeout. */
  readonly unavailableProviders: readonly string[];
  /** Providers that the leader can use, and that a candidate must be able to use as well. */
  readonly availableProviders: readonly string[];
}

export interface HandoverCandidate {
  readonly identity: string;
  /** Identity of the leader that made the request. */
  readonly leader: string;
}

export type LeaderDecision =
  | { readonly kind: "stay" }
  | { readonly kind: "request"; readonly request: HandoverRequest }
  | { readonly kind: "handover"; readonly request: HandoverRequest; readonly candidate: string };

export interface LeaderView extends Pick<HandoverDependencies, "identity" | "timeoutMs"> {
  readonly providers: readonly ProviderUse[];
  readonly candidate: HandoverCandidate | undefined;
}

/** Whether a leader stays. It hands over only to a replica that has become candidate. */
export function decideAsLeader({ identity, providers, candidate, timeoutMs }: LeaderView): LeaderDecision {
  const lost = providers.filter(({ isUsable, forMs }) => !isUsable && forMs >= timeoutMs);
  if (timeoutMs === 0 || lost.length === 0) return { kind: "stay" };
  const request: HandoverRequest = {
    leader: identity,
    time: new Date(Math.min(...lost.map(({ sinceMs }) => sinceMs))).toISOString(),
    unavailableProviders: namesOf(lost),
    availableProviders: namesOf(providers.filter(({ isUsable }) => isUsable)),
  };
  if (candidate === undefined || candidate.leader !== identity) return { kind: "request", request };
  return { kind: "handover", request, candidate: candidate.identity };
}

export interface StandbyView extends Pick<LeaderView, "identity" | "providers" | "candidate"> {
  readonly holderIdentity: string;
  readonly request: HandoverRequest | undefined;
  /** Caches are synced. */
  readonly isWarm: boolean;
  /** How long a provider must have been usable to count. */
  readonly steadyMs: number;
}

/**
 * Whether a standby becomes candidate: it must be able to use all providers that the leader can use, and one that the leader has lost.
 * Each handover adds a provider, so two replicas never hand over back and forth.
 */
export function decideAsStandby(view: StandbyView): HandoverCandidate | undefined {
  const { identity, holderIdentity, request, candidate, providers, isWarm, steadyMs } = view;
  if (!isWarm || request === undefined || request.leader !== holderIdentity || candidate?.leader === holderIdentity)
    return undefined;
  const usable = new Set(namesOf(providers.filter(({ isUsable, forMs }) => isUsable && forMs >= steadyMs)));
  const isBetter =
    request.availableProviders.every((name) => usable.has(name)) &&
    request.unavailableProviders.some((name) => usable.has(name));
  return isBetter ? { identity, leader: holderIdentity } : undefined;
}

export function parseRequest(text: string | undefined): HandoverRequest | undefined {
  return parsed(text, (record) => ({
    leader: stringField(record, "leader"),
    time: stringField(record, "time"),
    unavailableProviders: stringsField(record, "unavailableProviders"),
    availableProviders: stringsField(record, "availableProviders"),
  }));
}

export function parseCandidate(text: string | undefined): HandoverCandidate | undefined {
  return parsed(text, (record) => ({
    identity: stringField(record, "identity"),
    leader: stringField(record, "leader"),
  }));
}

/** undefined: absent or malformed, as any client that may write Leases can write these annotations. */
function parsed<T>(text: string | undefined, read: (record: Readonly<Record<string, unknown>>) => T): T | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return isRecord(value) ? read(value) : undefined;
  } catch {
    return undefined;
  }
}

function namesOf(providers: readonly ProviderUse[]): readonly string[] {
  return providers.map(({ name }) => name);
}
