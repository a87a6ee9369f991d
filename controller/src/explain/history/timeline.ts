import type { ObjectRef } from "@cloudwire/operator-api";
import { EVENT_SOURCES } from "../../api/controller-names.ts";
import type { EventInput } from "../../api/event.ts";
import { LOAD_BALANCER_READY } from "../../api/load-balancer-condition.ts";
import { NETWORK_UNAVAILABLE, type Node, READY } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { reportedReadiness } from "../../controllers/service/plan/status.ts";
import type { ReconcileRecord } from "../../runtime/history.ts";
import { beginningOf, flatText } from "../../util/text.ts";

/** Kept of what an Event says; a reconcile's record is short already. */
const MAX_MESSAGE = 500;

/** What an Event tells, and of what; undefined: of nothing that is explained. */
export function eventEntry(
  component: string,
  { regarding, type, reason, message }: EventInput,
): { readonly object: ObjectRef; readonly noted: NewEntry } | undefined {
  const told = beginningOf(message, MAX_MESSAGE);
  const noted: NewEntry = { kind: "event", source: component, reason, message: told, isWarning: type === "Warning" };
  const { kind, namespace, name } = regarding;
  if (kind === "Service") return { object: `service/${namespace}/${name}`, noted };
  if (kind !== "Node") return undefined;
  return { object: component === EVENT_SOURCES.route ? `route/${name}` : `node/${name}`, noted };
}

/**
 * What a reconcile tells beside the one before it: that it failed, or was held up, or that this is over. undefined: nothing; most
 * reconciles find everything as it should be.
 */
export function reconcileEntry(
  controller: string,
  record: ReconcileRecord,
  before: ReconcileRecord | undefined,
): NewEntry | undefined {
  const trouble = troubleOf(record);
  const source = controller;
  if (trouble !== undefined) {
    const isHeldUp = record.error === undefined;
    return {
      kind: "reconcile",
      source,
      reason: isHeldUp ? "HeldUp" : "Failed",
      message: trouble,
      isWarning: !isHeldUp,
    };
  }
  if (before === undefined || troubleOf(before) === undefined || record.outcome === "aborted") return undefined;
  return {
    kind: "reconcile",
    source,
    reason: "Recovered",
    message: "What stood in the way is gone.",
    isWarning: false,
  };
}

function troubleOf({ error, why }: ReconcileRecord): string | undefined {
  return error?.message ?? why?.message;
}

/** What a change of a Node tells. Compares a few fields: heartbeats cost next to nothing. */
export function nodeEntries(old: Node, node: Node): readonly NewEntry[] {
  if (old.metadata.uid !== node.metadata.uid)
    return [object("Recreated", "Deleted, and made anew under the same name.")];
  const [before, now] = [hasTaint(old), hasTaint(node)];
  const isNamed = old.spec.providerID === "" && node.spec.providerID !== "";
  return [
    ...(isNamed ? [object("ProviderIdSet", `Provider ID ${node.spec.providerID}.`)] : []),
    ...(before && !now ? [object("Initialized", `Taint ${UNINITIALIZED} removed.`)] : []),
    ...(!before && now ? [object("Uninitialized", `Taint ${UNINITIALIZED} put on.`)] : []),
    ...conditionEntries(old, node, READY, "False"),
    ...going(old, node),
  ];
}

/** The part of the same that is of its routes. */
export function routeEntries(old: Node, node: Node): readonly NewEntry[] {
  const [before, now] = [old.spec.podCIDRs.join(", "), node.spec.podCIDRs.join(", ")];
  return [
    ...(before === now ? [] : [object("PodCIDRsSet", `Pod addresses ${now === "" ? "none" : now}.`)]),
    ...conditionEntries(old, node, NETWORK_UNAVAILABLE, "True"),
  ];
}

/** What a change of a Service tells. */
export function serviceEntries(old: Service, service: Service): readonly NewEntry[] {
  if (old.metadata.uid !== service.metadata.uid) {
    return [object("Recreated", "Deleted, and made anew under the same name.")];
  }
  const [before, now] = [reportedReadiness(old), reportedReadiness(service)];
  const isTold = now !== undefined && (before?.status !== now.status || before.reason !== now.reason);
  const [ingress, ingressNow] = [addressesOf(old), addressesOf(service)];
  const condition: readonly NewEntry[] = isTold
    ? [
        {
          kind: "condition",
          reason: now.reason,
          message: `${LOAD_BALANCER_READY} is ${now.status}: ${now.message}`,
          isWarning: now.status !== "True" && !IN_PROGRESS.has(now.reason),
        },
      ]
    : [];
  return [
    ...condition,
    ...(ingress === ingressNow
      ? []
      : [object("AddressesChanged", ingressNow === "" ? "Has no address any more." : `Address ${ingressNow}.`)]),
    ...going(old, service),
  ];
}

const IN_PROGRESS: ReadonlySet<string> = new Set(["Provisioning", "Updating", "Deleting"]);

export const DELETED: NewEntry = object("Deleted", "Gone from the cluster.");
export const CREATED: NewEntry = object("Created", "Seen for the first time.");

function object(reason: string, message: string): NewEntry {
  return { kind: "object", reason, message, isWarning: false };
}

function going(old: Node | Service, now: Node | Service): readonly NewEntry[] {
  const isNew = old.metadata.deletionTimestampMs === undefined && now.metadata.deletionTimestampMs !== undefined;
  return isNew ? [object("Deleting", "Somebody has asked for its deletion.")] : [];
}

function conditionEntries(old: Node, node: Node, type: string, bad: string): readonly NewEntry[] {
  const before = old.status.conditions.find((condition) => condition.type === type);
  const now = node.status.conditions.find((condition) => condition.type === type);
  if (now === undefined || (before?.status === now.status && before.reason === now.reason)) return [];
  const isWarning = now.status === bad || now.status === "Unknown";
  return [{ kind: "condition", reason: now.reason, message: `${type} is ${now.status}.`, isWarning }];
}

function hasTaint({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === UNINITIALIZED);
}

function addressesOf({ status }: Service): string {
  return status.loadBalancer.ingress.map(({ ip, hostname }) => (ip === "" ? hostname : ip)).join(", ");
}

/** Something that happened to an object. */
export interface NewEntry {
  readonly kind: "reconcile" | "event" | "condition" | "object";
  /** Of a controller; absent: of the cluster. */
  readonly source?: string | undefined;
  readonly reason: string;
  readonly message: string;
  readonly isWarning: boolean;
}

/** The same with its time: the last one of several that were alike. */
export interface StoredEntry extends NewEntry {
  /** Wall clock. */
  readonly atMs: number;
  /** How often in a row. */
  readonly count: number;
}

export interface TimelineLimits {
  /** Of one object. */
  readonly perObject: number;
  /** Of all. */
  readonly total: number;
}

/** Some 250 bytes each: 3 MB when all of them are there, and 6 MB when they are failures with long messages. */
const LIMITS: TimelineLimits = { perObject: 30, total: 12_000 };

/** What happened to objects of late, those that are gone among them. In memory; forgets the objects first to which nothing has happened for longest. */
export class Timeline {
  readonly #limits: TimelineLimits;
  /** Oldest first; the object to which something happened last is last. */
  readonly #objects = new Map<ObjectRef, readonly StoredEntry[]>();
  #total = 0;

  constructor(limits: TimelineLimits = LIMITS) {
    this.#limits = limits;
  }

  note(object: ObjectRef, noted: NewEntry, nowMs: number): void {
    const before = this.#objects.get(object) ?? [];
    const last = before.at(-1);
    const isAgain = last !== undefined && isAlike(last, noted);
    const { kind, source, reason, isWarning } = noted;
    const message = isAgain ? last.message : flatText(noted.message);
    const one = { kind, source, reason, message, isWarning, atMs: nowMs, count: isAgain ? last.count + 1 : 1 };
    // Arrays of their exact length: one that is pushed to has room for sixteen more.
    const kept = isAgain ? before.slice(0, -1) : before.slice(before.length < this.#limits.perObject ? 0 : 1);
    const all = [...kept, one];
    this.#total += all.length - before.length;
    this.#objects.delete(object);
    this.#objects.set(object, all);
    this.#forget();
  }

  /** Newest first. */
  of(object: ObjectRef): readonly StoredEntry[] {
    return (this.#objects.get(object) ?? []).toReversed();
  }

  /** All that is remembered. */
  get size(): number {
    return this.#total;
  }

  #forget(): void {
    while (this.#total > this.#limits.total) {
      const [oldest] = this.#objects;
      if (oldest === undefined) return;
      const [object, all] = oldest;
      this.#objects.delete(object);
      this.#total -= all.length;
    }
  }
}

function isAlike(left: NewEntry, right: NewEntry): boolean {
  return (
    left.kind === right.kind &&
    left.source === right.source &&
    left.reason === right.reason &&
    left.message === right.message &&
    left.isWarning === right.isWarning
  );
}
