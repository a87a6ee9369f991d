import type { Gauge } from "prom-client";
import type { Node } from "../../api/node.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";
import { InstanceMap, isSameInstance } from "../../util/values/provider-id.ts";
import type { NodeMetrics } from "./metrics.ts";
import type { NodeOptions } from "./options.ts";
import type { ObservedInstance, WaitReason } from "./plan.ts";
import type { Difference, DroppedLabel, Field } from "./plan/labels.ts";

const MAX_DATA_AGE_MS = 30_000;

/** --node-status-update-frequency is the period of the ticks. When it changes, every Node is due. */
type RefreshOptions = Pick<NodeOptions, "nodeStatusUpdateFrequency">;

/**
 * When the instance data of each Node is read again. All Nodes share the ticks of one clock, so that the lookups of a tick go out in a
 * few large batches. The first tick is the start: upstream also reads every Node once when it starts.
 */
export class RefreshSchedule {
  readonly #clock: Clock;
  readonly #options: RefreshOptions;
  readonly #startMs: number;
  readonly #read = new Map<string, number>();

  constructor(options: RefreshOptions, clock: Clock) {
    this.#clock = clock;
    this.#options = options;
    this.#startMs = clock.monotonicMs();
  }

  /** Below the period, so that data from the previous tick is never used again. */
  get maxDataAgeMs(): number {
    return Math.min(MAX_DATA_AGE_MS, this.#options.nodeStatusUpdateFrequency / 2);
  }

  isDue(key: string): boolean {
    return this.#read.get(key) !== this.#tick();
  }

  done(key: string): void {
    this.#read.set(key, this.#tick());
  }

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

export type NodeCache = ReturnType<typeof createNodeCache>;

export function createNodeCache(options: RefreshOptions, metrics: NodeMetrics, clock: Clock) {
  return {
    refreshes: new RefreshSchedule(options, clock),
    observedInstances: new ObservedInstances(),
    providerIds: new ProviderIds(),
    waiting: new WaitingNodes(metrics, clock),
    addressWaits: new AddressWaits(clock),
    differences: new Differences(metrics.differences),
    repairs: new RepairBackoff(clock),
    ownWrites: new OwnWrites<Node>(),
  } as const;
}

export function forgetNode(cache: NodeCache, name: string): void {
  for (const part of Object.values(cache)) part.forget(name);
}

interface Kept {
  readonly uid: string;
  /** Provider ID of the lookup; "": the lookup was by the Node's name. */
  readonly queriedId: string;
  readonly observed: ObservedInstance;
}

/** Each Node's instance as the cloud last reported it, so that an edited label is repaired without a call, also during a cloud outage. */
export class ObservedInstances {
  readonly #kept = new Map<string, Kept>();

  get(node: Node): ObservedInstance | undefined {
    const kept = this.#kept.get(node.metadata.name);
    return kept === undefined || isOutdated(kept, node) ? undefined : kept.observed;
  }

  /** The cached instance is not the one that the Node names now, or belongs to a deleted Node of the same name. */
  isOutdated(node: Node): boolean {
    const kept = this.#kept.get(node.metadata.name);
    return kept !== undefined && isOutdated(kept, node);
  }

  put({ metadata, spec }: Node, { instance, byName }: ObservedInstance): void {
    const observed = { instance: instance && trimmed(instance), byName };
    this.#kept.set(metadata.name, { uid: metadata.uid, queriedId: spec.providerID, observed });
  }

  forget(name: string): void {
    this.#kept.delete(name);
  }
}

function isOutdated({ uid, queriedId, observed }: Kept, { metadata, spec }: Node): boolean {
  if (uid !== metadata.uid) return true;
  if (spec.providerID === "") return queriedId !== "";
  return ![queriedId, observed.instance?.providerId ?? ""].some((id) => isSameInstance(id, spec.providerID));
}

/** Only the fields that are copied to Nodes: with 15,000 Nodes the others would take megabytes. */
function trimmed({
  providerId,
  name,
  instanceType,
  zone,
  region,
  addresses,
  labels,
}: NonNullable<ObservedInstance["instance"]>) {
  return { providerId, name, instanceType, zone, region, addresses, labels };
}

/** Finds Nodes with the provider ID of one instance, a mistake that no cloud can detect. */
export class ProviderIds {
  readonly #idOf = new Map<string, string>();
  readonly #names = new InstanceMap<string>();

  note(name: string, providerID: string): void {
    const before = this.#idOf.get(name);
    if (before !== undefined && isSameInstance(before, providerID)) return;
    this.forget(name);
    if (providerID === "") return;
    this.#idOf.set(name, providerID);
    this.#names.add(providerID, name);
  }

  duplicates(name: string): readonly string[] {
    const names = this.#names.get(this.#idOf.get(name) ?? "");
    return names.filter((other) => other !== name).toSorted();
  }

  forget(name: string): void {
    const providerID = this.#idOf.get(name);
    if (providerID === undefined) return;
    this.#idOf.delete(name);
    this.#names.delete(providerID, name);
  }
}

/** The differences between each Node and its instance: counted while they last, reported once. */
export class Differences {
  readonly #gauge: Gauge<"field">;
  readonly #current = new Map<string, readonly Difference[]>();

  constructor(gauge: Gauge<"field">) {
    this.#gauge = gauge;
  }

  /** Replaces the Node's differences. Returns the new ones, which must be reported. */
  replace(key: string, differences: readonly Difference[]): readonly Difference[] {
    const before = this.#current.get(key) ?? [];
    if (before.length === 0 && differences.length === 0) return [];
    for (const field of fieldsOf(before)) this.#gauge.dec({ field });
    for (const field of fieldsOf(differences)) this.#gauge.inc({ field });
    if (differences.length === 0) this.#current.delete(key);
    else this.#current.set(key, differences);
    return differences.filter(({ message }) => !before.some((reported) => reported.message === message));
  }

  forget(key: string): void {
    this.replace(key, []);
  }
}

function fieldsOf(differences: readonly Difference[]): ReadonlySet<Field> {
  return new Set(differences.map(({ field }) => field));
}

/** Limits how often this controller and another one that writes other values overwrite each other. */
const REPAIR_PERIOD_MS = 30_000;

export class RepairBackoff {
  readonly #clock: Clock;
  readonly #repairedAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waitMs(key: string): number {
    const lastMs = this.#repairedAtMs.get(key);
    return lastMs === undefined ? 0 : Math.max(0, lastMs + REPAIR_PERIOD_MS - this.#clock.monotonicMs());
  }

  done(key: string): void {
    this.#repairedAtMs.set(key, this.#clock.monotonicMs());
  }

  forget(key: string): void {
    this.#repairedAtMs.delete(key);
  }
}

/** How long each uninitialized Node has had an instance without IP address. */
class AddressWaits {
  readonly #clock: Clock;
  readonly #waits = new Map<string, { readonly uid: string; readonly sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A Node that registers again under its name waits as long again. */
  waitedMs({ metadata: { name, uid } }: Node): number {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#waits.get(name);
    const sinceMs = known?.uid === uid ? known.sinceMs : nowMs;
    this.#waits.set(name, { uid, sinceMs });
    return nowMs - sinceMs;
  }

  forget(name: string): void {
    this.#waits.delete(name);
  }
}

/** How long a Node may be without an owner before that is reported: its provider, or another controller, may start later. */
export const REPORT_UNOWNED_AFTER_MS = 300_000;

export const REPORT_DELAY_AFTER_MS = 120_000;

/** Clouds usually assign addresses within this time. */
export const REPORT_NO_ADDRESS_AFTER_MS = 15_000;

/** A lasting problem is reported again, because events expire after an hour. */
const REPORT_AGAIN_MS = 1_800_000;

const MAX_REPORTED = 16;

export interface FailedAttempt {
  readonly reason: WaitReason;
  /** A topic is reported again only after {@link REPORT_AGAIN_MS}. */
  readonly topic: string;
  readonly reportAfterMs: number;
}

interface Waiting {
  readonly sinceMs: number;
  readonly failures: number;
  readonly reason: WaitReason;
  readonly reported: Map<string, number>;
}

export class WaitingNodes {
  readonly #metrics: Pick<NodeMetrics, "uninitialized" | "unowned">;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(metrics: Pick<NodeMetrics, "uninitialized" | "unowned">, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
    metrics.unowned.set(0);
  }

  /** Returns the failed attempts so far, whether to report the topic now, and how long until it can be reported. */
  add(key: string, { reason, topic, reportAfterMs }: FailedAttempt) {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#waiting.get(key);
    const { sinceMs = nowMs, reported = new Map<string, number>() } = before ?? {};
    const failures = (before?.failures ?? 0) + 1;
    this.#waiting.set(key, { sinceMs, failures, reason, reported });
    this.#count(before?.reason, reason);
    const reportInMs = Math.max(0, sinceMs + reportAfterMs - nowMs);
    const reportedAtMs = reported.get(topic);
    const report = reportInMs === 0 && (reportedAtMs === undefined || nowMs - reportedAtMs >= REPORT_AGAIN_MS);
    if (report) {
      if (reported.size >= MAX_REPORTED) reported.clear();
      reported.set(topic, nowMs);
    }
    return { failures, report, reportInMs };
  }

  forget(key: string): void {
    const before = this.#waiting.get(key);
    if (!this.#waiting.delete(key)) return;
    this.#count(before?.reason, undefined);
  }

  #count(before: WaitReason | undefined, now: WaitReason | undefined): void {
    if (before === now) return;
    const { uninitialized, unowned } = this.#metrics;
    if (before !== undefined) uninitialized.dec({ reason: before });
    if (now !== undefined) uninitialized.inc({ reason: now });
    if (before === "unowned") unowned.dec();
    if (now === "unowned") unowned.inc();
  }
}

/** With more keys than this, some are reported again. */
const MAX_KEYS = 1000;

/** Label keys of the cloud that no Node gets. Only the vendor can fix them, so each is reported once and not for every Node. */
export class DroppedLabels {
  readonly #reported = new Lru<string, true>(MAX_KEYS);

  /** Returns those that were not reported yet, and takes them as reported. */
  unreported(labels: readonly DroppedLabel[]): readonly DroppedLabel[] {
    return labels.filter(({ key, reason }) => {
      const topic = `${reason} ${key}`;
      if (this.#reported.get(topic) === true) return false;
      this.#reported.set(topic, true);
      return true;
    });
  }
}
