import type { Gauge } from "prom-client";
import type { Node } from "../../api/node.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";
import type { NodeMetrics } from "./metrics.ts";
import type { NodeOptions } from "./options.ts";
import { type ObservedInstance, type WaitReason, isSameMachine } from "./plan.ts";
import type { Difference, DroppedLabel, Field } from "./plan/labels.ts";

/** As old as the contract lets an answer be that nobody asked to be fresher. */
const MAX_DATA_AGE_MS = 30_000;

/** --node-status-update-frequency is the time from one tick to the next; it may change, and then every Node is due. */
type RefreshOptions = Pick<NodeOptions, "nodeStatusUpdateFrequency">;

/**
 * When each Node's facts are read again: at the ticks of one clock, the same for all, so that the questions of a tick leave as few
 * large batches. The first tick is the start, as upstream, which reads every Node once when it begins.
 */
export class RefreshSchedule {
  readonly #clock: Clock;
  readonly #options: RefreshOptions;
  readonly #startMs: number;
  /** Number of the tick in which a Node was last read. */
  readonly #read = new Map<string, number>();

  constructor(options: RefreshOptions, clock: Clock) {
    this.#clock = clock;
    this.#options = options;
    this.#startMs = clock.monotonicMs();
  }

  /** How old an answer may be: shared with whoever else asks about the machine, but never with the tick before. */
  get maxDataAgeMs(): number {
    return Math.min(MAX_DATA_AGE_MS, this.#options.nodeStatusUpdateFrequency / 2);
  }

  /** Not read yet in this tick. */
  isDue(key: string): boolean {
    return this.#read.get(key) !== this.#tick();
  }

  /** The cloud said what it knows. */
  done(key: string): void {
    this.#read.set(key, this.#tick());
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.#read.delete(key);
  }

  untilNextMs(): number {
    const periodMs = this.#options.nodeStatusUpdateFrequency;
    return periodMs - (this.#sinceStartMs() % periodMs);
  }

  #tick(): number {
    return Math.floor(this.#sinceStartMs() / this.#options.nodeStatusUpdateFrequency);
  }

  #sinceStartMs(): number {
    return this.#clock.monotonicMs() - this.#startMs;
  }
}

/** What this controller remembers of Nodes, each by name. All of it may be lost: it is found again. */
export interface NodeCache {
  readonly refreshes: RefreshSchedule;
  readonly observedInstances: ObservedInstances;
  readonly providerIds: ProviderIds;
  readonly waiting: WaitingNodes;
  readonly differences: Differences;
  readonly repairs: RepairBackoff;
  readonly ownWrites: OwnWrites<Node>;
}

export function createNodeCache(options: RefreshOptions, metrics: NodeMetrics, clock: Clock): NodeCache {
  return {
    refreshes: new RefreshSchedule(options, clock),
    observedInstances: new ObservedInstances(),
    providerIds: new ProviderIds(),
    waiting: new WaitingNodes(metrics, clock),
    differences: new Differences(metrics.differences),
    repairs: new RepairBackoff(clock),
    ownWrites: new OwnWrites<Node>(),
  };
}

/** The Node is gone. */
export function forgetNode(cache: NodeCache, name: string): void {
  for (const part of Object.values(cache)) part.forget(name);
}

interface Kept {
  readonly uid: string;
  /** By which the machine was asked for; "": by the Node's name. */
  readonly askedId: string;
  readonly observed: ObservedInstance;
}

/**
 * What the cloud said last of each Node's machine. An edit of a label is so repaired at once and without another call, also while the
 * cloud is away.
 */
export class ObservedInstances {
  readonly #kept = new Map<string, Kept>();

  /** What was said of the machine that the Node names now. */
  get(node: Node): ObservedInstance | undefined {
    const kept = this.#kept.get(node.metadata.name);
    return kept === undefined || isOutdated(kept, node) ? undefined : kept.observed;
  }

  /** What is known is of a machine that the Node does not name any more, or of a Node that had its name before. */
  isOutdated(node: Node): boolean {
    const kept = this.#kept.get(node.metadata.name);
    return kept !== undefined && isOutdated(kept, node);
  }

  put({ metadata, spec }: Node, { facts, namesake }: ObservedInstance): void {
    const observed = { facts: facts === undefined ? undefined : trimmed(facts), namesake };
    this.#kept.set(metadata.name, { uid: metadata.uid, askedId: spec.providerID, observed });
  }

  /** The Node is gone, or its machine nobody's. */
  forget(name: string): void {
    this.#kept.delete(name);
  }
}

function isOutdated({ uid, askedId, observed }: Kept, { metadata, spec }: Node): boolean {
  const ids = [askedId, observed.facts?.providerId ?? askedId];
  return uid !== metadata.uid || !ids.some((id) => isSameMachine(id, spec.providerID));
}

/** Only what goes onto Nodes: at 15,000 of them the rest would be megabytes. */
function trimmed({
  providerId,
  name,
  instanceType,
  zone,
  region,
  addresses,
  labels,
}: NonNullable<ObservedInstance["facts"]>) {
  return { providerId, name, instanceType, zone, region, addresses, labels };
}

/** Which Nodes have which provider ID: two with the same are a mistake that no cloud can see. */
export class ProviderIds {
  readonly #idOf = new Map<string, string>();
  /** A set only where there are several: thousands of sets of one would be megabytes. */
  readonly #namesOf = new Map<string, string | Set<string>>();

  note(name: string, providerID: string): void {
    if (this.#idOf.get(name) === providerID) return;
    this.forget(name);
    if (providerID === "") return;
    this.#idOf.set(name, providerID);
    const others = this.#namesOf.get(providerID);
    if (others === undefined) this.#namesOf.set(providerID, name);
    else if (typeof others === "string") this.#namesOf.set(providerID, new Set([others, name]));
    else others.add(name);
  }

  /** Names of other Nodes with the same ID, sorted. */
  rivals(name: string): readonly string[] {
    const providerID = this.#idOf.get(name);
    const names = providerID === undefined ? undefined : this.#namesOf.get(providerID);
    if (names === undefined || typeof names === "string") return [];
    return [...names].filter((other) => other !== name).toSorted();
  }

  /** The Node is gone. */
  forget(name: string): void {
    const providerID = this.#idOf.get(name);
    if (providerID === undefined) return;
    this.#idOf.delete(name);
    const names = this.#namesOf.get(providerID);
    if (names instanceof Set) names.delete(name);
    if (names === name || (names instanceof Set && names.size === 0)) this.#namesOf.delete(providerID);
  }
}

/** What each Node does not show of what its cloud says, so that it is counted while it lasts and reported once. */
export class Differences {
  readonly #gauge: Gauge<"field">;
  readonly #current = new Map<string, readonly Difference[]>();

  constructor(gauge: Gauge<"field">) {
    this.#gauge = gauge;
  }

  /** Takes the place of what was known of the Node; answers what is new and has to be reported. */
  replace(key: string, differences: readonly Difference[]): readonly Difference[] {
    const before = this.#current.get(key) ?? [];
    if (before.length === 0 && differences.length === 0) return [];
    for (const field of fieldsOf(before)) this.#gauge.dec({ field });
    for (const field of fieldsOf(differences)) this.#gauge.inc({ field });
    if (differences.length === 0) this.#current.delete(key);
    else this.#current.set(key, differences);
    return differences.filter(({ message }) => !before.some((reported) => reported.message === message));
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.replace(key, []);
  }
}

function fieldsOf(differences: readonly Difference[]): ReadonlySet<Field> {
  return new Set(differences.map(({ field }) => field));
}

/** Somebody who writes other values again and again is answered no faster: each has the last word only for a while, and nobody spins. */
const REPAIR_PERIOD_MS = 30_000;

/** When each Node's labels were last put right. */
export class RepairBackoff {
  readonly #clock: Clock;
  readonly #repairedAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before the Node's labels may be put right again; 0: not at all. */
  waitMs(key: string): number {
    const lastMs = this.#repairedAtMs.get(key);
    return lastMs === undefined ? 0 : Math.max(0, lastMs + REPAIR_PERIOD_MS - this.#clock.monotonicMs());
  }

  done(key: string): void {
    this.#repairedAtMs.set(key, this.#clock.monotonicMs());
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.#repairedAtMs.delete(key);
  }
}

/** A Node may wait this long for its owner in silence: a provider that is rolled out later, or a controller of another kind. */
export const UNOWNED_IS_NEWS_AFTER_MS = 300_000;

/** What passes by itself is news when it has not passed for so long. */
export const DELAY_IS_NEWS_AFTER_MS = 120_000;

/** What still holds is said again, for events live for an hour. */
const REPORT_AGAIN_MS = 1_800_000;

/** Of different things to say about one Node at most so many are remembered. */
const MAX_REPORTED = 16;

/** One more try that did not end the wait. */
export interface Wait {
  readonly reason: WaitReason;
  /** What is reported; said twice only after a long time. */
  readonly topic: string;
  /** How long the Node may wait before that is reported. */
  readonly newsAfterMs: number;
}

export interface Noted {
  /** Tries in vain so far. */
  readonly failures: number;
  /** It is time to tell. */
  readonly tell: boolean;
  /** How long until it is news; 0: it is. */
  readonly newsInMs: number;
}

interface Waiting {
  readonly sinceMs: number;
  readonly failures: number;
  readonly reason: WaitReason;
  /** When each topic was reported. */
  readonly reported: Map<string, number>;
}

/** Nodes that keep their taint, for how long and why. */
export class WaitingNodes {
  readonly #gauge: Gauge<"reason">;
  readonly #unowned: Gauge;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(metrics: { readonly uninitialized: Gauge<"reason">; readonly unowned: Gauge }, clock: Clock) {
    this.#gauge = metrics.uninitialized;
    this.#unowned = metrics.unowned;
    this.#clock = clock;
    metrics.unowned.set(0);
  }

  add(key: string, { reason, topic, newsAfterMs }: Wait): Noted {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#waiting.get(key);
    const sinceMs = before?.sinceMs ?? nowMs;
    const failures = (before?.failures ?? 0) + 1;
    const reported = before?.reported ?? new Map<string, number>();
    this.#waiting.set(key, { sinceMs, failures, reason, reported });
    this.#count(before?.reason, reason);
    const newsInMs = Math.max(0, sinceMs + newsAfterMs - nowMs);
    const reportedAtMs = reported.get(topic);
    const tell = newsInMs === 0 && (reportedAtMs === undefined || nowMs - reportedAtMs >= REPORT_AGAIN_MS);
    if (tell) {
      if (reported.size >= MAX_REPORTED) reported.clear();
      reported.set(topic, nowMs);
    }
    return { failures, tell, newsInMs };
  }

  /** The Node is initialised or gone. */
  forget(key: string): void {
    const before = this.#waiting.get(key);
    if (!this.#waiting.delete(key)) return;
    this.#count(before?.reason, undefined);
  }

  #count(before: WaitReason | undefined, now: WaitReason | undefined): void {
    if (before === now) return;
    if (before !== undefined) this.#gauge.dec({ reason: before });
    if (now !== undefined) this.#gauge.inc({ reason: now });
    if (before === "unowned") this.#unowned.dec();
    if (now === "unowned") this.#unowned.inc();
  }
}

/** A provider sends the same labels for all of its machines: more keys than this are reported again now and then. */
const MAX_KEYS = 1000;

/** Keys of the cloud's labels that no Node gets: the vendor's to mend, so each is said once and not once a Node. */
export class DroppedLabels {
  readonly #reported = new Lru<string, true>(MAX_KEYS);

  /** Those not reported yet. */
  news(labels: readonly DroppedLabel[]): readonly DroppedLabel[] {
    return labels.filter(({ key, why }) => {
      const topic = `${why} ${key}`;
      if (this.#reported.get(topic) === true) return false;
      this.#reported.set(topic, true);
      return true;
    });
  }
}
