import type { ObjectRef, TimelineEntry } from "@cloudwire/operator-api";
import { EVENT_SOURCES } from "../../api/controller-names.ts";
import type { EventInput } from "../../api/event.ts";
import { LOAD_BALANCER_READY } from "../../api/load-balancer-condition.ts";
import { NETWORK_UNAVAILABLE, type Node, READY } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { reportedReadiness } from "../../controllers/service/plan/status.ts";
import type { ReconcileRecord } from "../../runtime/history.ts";
import { beginningOf, flatText } from "../../util/text.ts";

/** Of an Event; messages of reconciles are short already. */
const MAX_MESSAGE = 500;

/** undefined: the Event is not about a Node or Service. */
export function eventEntry(
  component: string,
  { regarding, type, reason, message }: EventInput,
): { readonly object: ObjectRef; readonly entry: NewEntry } | undefined {
  const { kind, namespace, name } = regarding;
  const isWarning = type === "Warning";
  const entry = {
    kind: "event",
    source: component,
    reason,
    message: beginningOf(message, MAX_MESSAGE),
    isWarning,
  } as const;
  if (kind === "Service") return { object: `service/${namespace}/${name}`, entry };
  if (kind !== "Node") return undefined;
  return { object: component === EVENT_SOURCES.route ? `route/${name}` : `node/${name}`, entry };
}

/** A failure, a delay or a recovery; undefined: as after the previous reconcile. */
export function reconcileEntry(
  controller: string,
  record: ReconcileRecord,
  before: ReconcileRecord | undefined,
): NewEntry | undefined {
  const entry = { kind: "reconcile", source: controller } as const;
  const problem = problemOf(record);
  if (problem !== undefined) {
    const isWarning = record.error !== undefined;
    return { ...entry, reason: isWarning ? "Failed" : "Delayed", message: problem, isWarning };
  }
  if (before === undefined || problemOf(before) === undefined || record.outcome === "aborted") return undefined;
  return { ...entry, reason: "Recovered", message: "The problem is resolved.", isWarning: false };
}

function problemOf({ error, why }: ReconcileRecord): string | undefined {
  return error?.message ?? why?.message;
}

/** Compares a few fields only, so heartbeats cost little. */
export function nodeEntries(old: Node, node: Node): readonly NewEntry[] {
  if (old.metadata.uid !== node.metadata.uid) return [RECREATED];
  const [before, now] = [hasTaint(old), hasTaint(node)];
  const isNamed = old.spec.providerID === "" && node.spec.providerID !== "";
  return [
    ...(isNamed ? [object("ProviderIdSet", `Provider ID ${node.spec.providerID}.`)] : []),
    ...(before && !now ? [object("Initialized", `Taint ${UNINITIALIZED} removed.`)] : []),
    ...(!before && now ? [object("Uninitialized", `Taint ${UNINITIALIZED} added.`)] : []),
    ...conditionEntries(old, node, READY, "False"),
    ...deleting(old, node),
  ];
}

export function routeEntries(old: Node, node: Node): readonly NewEntry[] {
  const [before, now] = [old.spec.podCIDRs.join(", "), node.spec.podCIDRs.join(", ")];
  return [
    ...(before === now ? [] : [object("PodCIDRsSet", `Pod CIDRs ${now === "" ? "none" : now}.`)]),
    ...conditionEntries(old, node, NETWORK_UNAVAILABLE, "True"),
  ];
}

export function serviceEntries(old: Service, service: Service): readonly NewEntry[] {
  if (old.metadata.uid !== service.metadata.uid) return [RECREATED];
  const [before, now] = [reportedReadiness(old), reportedReadiness(service)];
  const isChanged = now !== undefined && (before?.status !== now.status || before.reason !== now.reason);
  const [addressesBefore, addresses] = [addressesOf(old), addressesOf(service)];
  return [
    ...(isChanged
      ? [
          condition(
            now,
            `${LOAD_BALANCER_READY} is ${now.status}: ${now.message}`,
            now.status !== "True" && !IN_PROGRESS.has(now.reason),
          ),
        ]
      : []),
    ...(addressesBefore === addresses
      ? []
      : [object("AddressesChanged", addresses === "" ? "No address." : `Address ${addresses}.`)]),
    ...deleting(old, service),
  ];
}

const IN_PROGRESS: ReadonlySet<string> = new Set(["Provisioning", "Updating", "Deleting"]);

export const DELETED: NewEntry = object("Deleted", "Deleted from the cluster.");
const RECREATED: NewEntry = object("Recreated", "Deleted and recreated with the same name.");
export const CREATED: NewEntry = object("Created", "Seen for the first time.");

function object(reason: string, message: string): NewEntry {
  return { kind: "object", reason, message, isWarning: false };
}

function deleting(old: Node | Service, now: Node | Service): readonly NewEntry[] {
  const isNew = old.metadata.deletionTimestampMs === undefined && now.metadata.deletionTimestampMs !== undefined;
  return isNew ? [object("Deleting", "Deletion was requested.")] : [];
}

function conditionEntries(old: Node, node: Node, type: string, bad: string): readonly NewEntry[] {
  const before = old.status.conditions.find((condition) => condition.type === type);
  const now = node.status.conditions.find((condition) => condition.type === type);
  if (now === undefined || (before?.status === now.status && before.reason === now.reason)) return [];
  const isWarning = now.status === bad || now.status === "Unknown";
  return [condition(now, `${type} is ${now.status}.`, isWarning)];
}

function condition({ reason }: { readonly reason: string }, message: string, isWarning: boolean): NewEntry {
  return { kind: "condition", reason, message, isWarning };
}

function hasTaint({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === UNINITIALIZED);
}

function addressesOf({ status }: Service): string {
  return status.loadBalancer.ingress.map(({ ip, hostname }) => (ip === "" ? hostname : ip)).join(", ");
}

export interface NewEntry extends Omit<TimelineEntry, "time" | "count" | "source"> {
  readonly source?: string | undefined;
}

/** Consecutive equal entries are stored once, with the time of the last. */
export interface StoredEntry extends NewEntry {
  /** Wall clock. */
  readonly atMs: number;
  readonly count: number;
}

export interface TimelineLimits {
  readonly perObject: number;
  readonly total: number;
}

/** About 250 bytes each: 3 MB in total, and 6 MB with long messages. */
const LIMITS: TimelineLimits = { perObject: 30, total: 12_000 };

/** Recent entries of existing and deleted objects. Drops objects without recent entries first. */
export class Timeline {
  readonly #limits: TimelineLimits;
  /** Entries oldest first; objects by their newest entry. */
  readonly #objects = new Map<ObjectRef, readonly StoredEntry[]>();
  #total = 0;

  constructor(limits: TimelineLimits = LIMITS) {
    this.#limits = limits;
  }

  add(object: ObjectRef, entry: NewEntry, nowMs: number): void {
    const before = this.#objects.get(object) ?? [];
    const last = before.at(-1);
    const isAgain = last !== undefined && isEqual(last, entry);
    const { kind, source, reason, isWarning } = entry;
    const message = isAgain ? last.message : flatText(entry.message);
    const one = { kind, source, reason, message, isWarning, atMs: nowMs, count: isAgain ? last.count + 1 : 1 };
    // New arrays, because push() reserves room for sixteen more elements.
    const kept = isAgain ? before.slice(0, -1) : before.slice(before.length < this.#limits.perObject ? 0 : 1);
    const all = [...kept, one];
    this.#total += all.length - before.length;
    this.#objects.delete(object);
    this.#objects.set(object, all);
    this.#trim();
  }

  /** Newest first. */
  of(object: ObjectRef): readonly StoredEntry[] {
    return (this.#objects.get(object) ?? []).toReversed();
  }

  get size(): number {
    return this.#total;
  }

  #trim(): void {
    while (this.#total > this.#limits.total) {
      const [oldest] = this.#objects;
      if (oldest === undefined) return;
      const [object, all] = oldest;
      this.#objects.delete(object);
      this.#total -= all.length;
    }
  }
}

function isEqual(left: NewEntry, right: NewEntry): boolean {
  return (
    left.kind === right.kind &&
    left.source === right.source &&
    left.reason === right.reason &&
    left.message === right.message &&
    left.isWarning === right.isWarning
  );
}
