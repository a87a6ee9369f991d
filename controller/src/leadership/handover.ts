import { SUCCESSOR_OFFERED, SUCCESSOR_WANTED } from "../api/annotations.ts";
import type { Sidecar } from "../provider/sidecar.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { isRecord, stringField, stringsField } from "../util/json.ts";

/** A provider as it says that it is: whether it can be used, and when it was last asked. */
export interface WatchedProvider extends Pick<Sidecar, "name" | "untrustedReason" | "askStatus"> {
  readonly status: { readonly receivedAtMs: number } | undefined;
}

export interface HandoverDependencies {
  /** Of this process, on the Lease. */
  readonly identity: string;
  readonly providers: readonly WatchedProvider[];
  /** --leader-elect-provider-timeout. */
  readonly timeoutMs: number;
  /** How long a process that is not the best one leaves a free lease to the others. */
  readonly deferMs: number;
  readonly isWarm: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: HandoverMetrics;
  /** Told when it begins to look for a successor, with why, in one line. */
  readonly onAsk: (why: string) => void;
  /** Told once that leading must end, in good order, with why, in one line. */
  readonly onYield: (why: string) => void;
}

/** A provider must have been usable for so long to be offered, or for the bound itself if that is shorter. */
const STEADY_MS = 10_000;

/** Whether and since when a provider is usable. */
interface Since {
  readonly isUsable: boolean;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Lets a leader that has lost a provider make way for a replica that can use it: both say so on the Lease that they read and write
 * anyway. See {@link decideAsLeader} and {@link decideAsStandby}.
 */
export class HandoverAnnotation implements LeaseAnnotation {
  readonly #deps: HandoverDependencies;
  readonly #since = new Map<string, Since>();
  #holder = "";
  #wanted: Wanted | undefined;
  /** The wish as it stands on the Lease, and since when this process knows of it, by the wall clock. */
  #wish: { readonly text: string | undefined; readonly seenAtMs: number } = { text: undefined, seenAtMs: 0 };
  #offered: Offered | undefined;
  #isAsking = false;
  #isYielding = false;
  /** The wish answered last, so that the log says it once. */
  #answered = "";

  constructor(dependencies: HandoverDependencies) {
    this.#deps = dependencies;
    dependencies.metrics.asking(false);
  }

  read(annotations: Readonly<Record<string, string>>, holder: string): void {
    this.#holder = holder;
    this.#wanted = parseWanted(annotations[SUCCESSOR_WANTED]);
    this.#offered = parseOffered(annotations[SUCCESSOR_OFFERED]);
    this.#noteWish(annotations[SUCCESSOR_WANTED]);
    this.#look();
    if (holder !== this.#deps.identity) return;
    const decision = this.#decide();
    if (decision.kind === "yield") this.#yield(decision.wanted, decision.successor);
  }

  write(): Readonly<Record<string, string | undefined>> {
    // What is left of an earlier leader goes as the lease is taken.
    if (this.#holder !== this.#deps.identity) return { [SUCCESSOR_WANTED]: undefined, [SUCCESSOR_OFFERED]: undefined };
    // Both outlast this process: they say who is to take the lease.
    if (this.#isYielding) return {};
    this.#look();
    const decision = this.#decide();
    this.#tell(decision);
    const wanted = decision.kind === "stay" ? undefined : JSON.stringify(decision.wanted);
    return { [SUCCESSOR_WANTED]: wanted, [SUCCESSOR_OFFERED]: undefined };
  }

  propose(): Readonly<Record<string, string>> {
    const { identity, isWarm, timeoutMs, log } = this.#deps;
    const offered = decideAsStandby({
      identity,
      holder: this.#holder,
      wanted: this.#wanted,
      offered: this.#offered,
      providers: this.#uses().filter(({ name }) => this.#hasAnswered(name)),
      isWarm: isWarm(),
      steadyMs: timeoutMs === 0 ? STEADY_MS : Math.min(STEADY_MS, timeoutMs),
    });
    if (offered === undefined) return {};
    const wish = JSON.stringify(this.#wanted);
    if (wish !== this.#answered) log.info("Offering to lead", { leader: offered.leader, lost: this.#wanted?.lost });
    this.#answered = wish;
    return { [SUCCESSOR_OFFERED]: JSON.stringify(offered) };
  }

  deferMs(): number {
    const { identity, timeoutMs, deferMs, providers } = this.#deps;
    if (timeoutMs === 0) return 0;
    const isAnotherMeant = this.#offered !== undefined && this.#offered.identity !== identity;
    // What the last leader could not use, and found nobody for, is no reason to wait for others.
    const isWorse = providers.some(
      ({ name, untrustedReason }) => untrustedReason !== undefined && !this.#wanted?.lost.includes(name),
    );
    return isAnotherMeant || isWorse ? deferMs : 0;
  }

  /** What a provider said before is no answer to a wish: a cloud that is down for all may not have been heard of here. */
  #noteWish(text: string | undefined): void {
    if (text === this.#wish.text) return;
    this.#wish = { text, seenAtMs: this.#deps.clock.nowMs() };
    if (text === undefined || this.#holder === this.#deps.identity) return;
    for (const provider of this.#deps.providers) provider.askStatus();
  }

  #hasAnswered(name: string): boolean {
    const status = this.#deps.providers.find((provider) => provider.name === name)?.status;
    return status !== undefined && status.receivedAtMs >= this.#wish.seenAtMs;
  }

  #decide(): LeaderDecision {
    const { identity, timeoutMs } = this.#deps;
    return decideAsLeader({ identity, providers: this.#uses(), offered: this.#offered, timeoutMs });
  }

  #look(): void {
    const { providers, clock } = this.#deps;
    for (const { name, untrustedReason } of providers) {
      const isUsable = untrustedReason === undefined;
      if (this.#since.get(name)?.isUsable === isUsable) continue;
      this.#since.set(name, { isUsable, monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
    }
  }

  #uses(): readonly ProviderUse[] {
    const nowMs = this.#deps.clock.monotonicMs();
    return [...this.#since].map(([name, { isUsable, monotonicMs, wallMs }]) => ({
      name,
      isUsable,
      forMs: nowMs - monotonicMs,
      sinceMs: wallMs,
    }));
  }

  #tell(decision: LeaderDecision): void {
    const { log, metrics } = this.#deps;
    const isAsking = decision.kind !== "stay";
    if (isAsking === this.#isAsking) return;
    this.#isAsking = isAsking;
    metrics.asking(isAsking);
    if (decision.kind === "stay") return log.info("No successor is looked for any more");
    const { lost, since } = decision.wanted;
    log.warn("A replica is looked for that can use what this one cannot", { lost, since });
    this.#deps.onAsk(`cannot use ${this.#lostWith(lost)} since ${since}; a replica that can is asked to lead`);
  }

  #yield({ lost }: Wanted, successor: string): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    this.#deps.log.warn("Giving up leadership for a replica that can do better", { lost, successor });
    this.#deps.onYield(`gives up leadership to ${successor}, which can use ${lost.join(", ")}`);
  }

  #lostWith(lost: readonly string[]): string {
    return this.#deps.providers
      .filter(({ name }) => lost.includes(name))
      .map(({ name, untrustedReason }) => `provider ${name} (${untrustedReason ?? "usable again"})`)
      .join(", ");
  }
}

export interface HandoverMetrics {
  asking(isAsking: boolean): void;
}

export function handoverMetrics(metrics: Metrics): HandoverMetrics {
  const gauge = metrics.gauge({
    name: "cloudwire_leader_handover_requested",
    help: "1 while this leader requests a leadership handover because a provider has been unavailable for longer than --leader-elect-provider-timeout.",
    labels: [],
  });
  return { asking: (isAsking) => gauge.set({}, isAsking ? 1 : 0) };
}

/** One provider as one replica finds it. */
export interface ProviderUse {
  readonly name: string;
  readonly isUsable: boolean;
  /** For how long it has been so, without a break. */
  readonly forMs: number;
  /** Since when, by the wall clock. */
  readonly sinceMs: number;
}

/** A leader's wish to be replaced. */
export interface Wanted {
  /** Identity of the leader; the wish of a process that leads no more counts for nothing. */
  readonly leader: string;
  /** RFC 3339. For people. */
  readonly since: string;
  /** Providers it could not use for longer than the bound. */
  readonly lost: readonly string[];
  /** Providers that it can use, and that a successor must be able to use, too. */
  readonly usable: readonly string[];
}

/** The answer of a replica that can do better. */
export interface Offered {
  readonly identity: string;
  /** Whose wish it answers. */
  readonly leader: string;
}

export type LeaderDecision =
  | { readonly kind: "stay" }
  /** It leads on, and says what it lacks. */
  | { readonly kind: "ask"; readonly wanted: Wanted }
  | { readonly kind: "yield"; readonly wanted: Wanted; readonly successor: string };

export interface LeaderView {
  readonly identity: string;
  readonly providers: readonly ProviderUse[];
  readonly offered: Offered | undefined;
  /** How long it leads on without a provider before it asks. 0: for ever. */
  readonly timeoutMs: number;
}

/** Whether a leader stays. Nobody is made way for but a replica that has said it can use more. */
export function decideAsLeader({ identity, providers, offered, timeoutMs }: LeaderView): LeaderDecision {
  const lost = providers.filter(({ isUsable, forMs }) => !isUsable && forMs >= timeoutMs);
  if (timeoutMs === 0 || lost.length === 0) return { kind: "stay" };
  const wanted: Wanted = {
    leader: identity,
    since: new Date(Math.min(...lost.map(({ sinceMs }) => sinceMs))).toISOString(),
    lost: namesOf(lost),
    usable: namesOf(providers.filter(({ isUsable }) => isUsable)),
  };
  if (offered === undefined || offered.leader !== identity) return { kind: "ask", wanted };
  return { kind: "yield", wanted, successor: offered.identity };
}

export interface StandbyView {
  readonly identity: string;
  /** Of the lease. */
  readonly holder: string;
  readonly wanted: Wanted | undefined;
  readonly offered: Offered | undefined;
  readonly providers: readonly ProviderUse[];
  /** Its caches are full: it can go on where the leader stops. */
  readonly isWarm: boolean;
  /** How long a provider must have been usable to count. */
  readonly steadyMs: number;
}

/**
 * Whether a standby offers to lead: it must be able to use all that the leader can use and something that the leader has lost.
 * More of the same set each time, so that no two replicas can find each other better.
 */
export function decideAsStandby(view: StandbyView): Offered | undefined {
  const { identity, holder, wanted, offered, providers, isWarm, steadyMs } = view;
  if (!isWarm || wanted === undefined || wanted.leader !== holder || offered?.leader === holder) return undefined;
  const usable = new Set(namesOf(providers.filter(({ isUsable, forMs }) => isUsable && forMs >= steadyMs)));
  const isBetter = wanted.usable.every((name) => usable.has(name)) && wanted.lost.some((name) => usable.has(name));
  return isBetter ? { identity, leader: holder } : undefined;
}

/** undefined: there is none, or none that can be read. */
export function parseWanted(text: string | undefined): Wanted | undefined {
  return parsed(text, (record) => ({
    leader: stringField(record, "leader"),
    since: stringField(record, "since"),
    lost: stringsField(record, "lost"),
    usable: stringsField(record, "usable"),
  }));
}

/** undefined: there is none, or none that can be read. */
export function parseOffered(text: string | undefined): Offered | undefined {
  return parsed(text, (record) => ({
    identity: stringField(record, "identity"),
    leader: stringField(record, "leader"),
  }));
}

/** An annotation that anybody may have written is no reason to fail. */
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
