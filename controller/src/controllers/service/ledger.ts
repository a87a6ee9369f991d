import type { LoadBalancerIngress, Service } from "../../api/service.ts";
import type { EnsureLoadBalancerInput } from "../../provider/model/client.ts";
import { needsUpdate } from "./predicates.ts";

/** What a provider last acknowledged for one Service. */
export interface Entry {
  /** The Service as it was then. */
  readonly service: Service;
  /** Name of the provider, from the options. */
  readonly provider: string;
  readonly loadBalancerId: string;
  /** What was asked for; undefined: an earlier process asked for it. */
  readonly spec: EnsureLoadBalancerInput["spec"] | undefined;
  readonly specFingerprint: string;
  readonly nodesFingerprint: string;
  /** Of the cloud's objects, by their provider: another one means that somebody changed them. "" where it makes none. */
  readonly observedFingerprint: string;
  /** Load balancers with equal ones must not be changed at once, where the provider says so. "" when there is none. */
  readonly lockKey: string;
  /** Where traffic enters; undefined while it serves none. */
  readonly ingress: readonly LoadBalancerIngress[] | undefined;
  /** Work that goes on at the cloud. */
  readonly pending: Pending | undefined;
}

/** A change that was accepted and is not finished. */
export interface Pending {
  readonly kind: "ensure" | "update";
  readonly operationId: string;
  readonly pollAfterMs: number;
}

/** A change that was asked for and not answered so far. */
export interface Attempt {
  readonly service: Service;
  readonly provider: string;
}

/** What a provider made that does not serve the Service any more. */
export interface Former {
  readonly provider: string;
  /** undefined: something was asked for, and what came of it is not known. */
  readonly loadBalancerId: string | undefined;
}

/** A deletion that was accepted and is not finished. */
export interface Deletion extends Attempt {
  readonly operationId: string;
}

/** A wish that a provider process has refused for good: not asked for again before one of them changes, or `untilMs`. */
export interface Refused {
  readonly service: Service;
  readonly bootId: string;
  readonly message: string;
  /** Monotonic. */
  readonly untilMs: number;
}

/** `what` of an attempt to delete the load balancer of a Service. */
export function deletionOf(uid: string): string {
  return `${uid} delete`;
}

/**
 * What this process knows of the load balancers of Services, by key. Losing it costs a read of each load balancer after a restart
 * and nothing else: the truth is at the cloud.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly #deletions = new Map<string, Deletion>();
  readonly #changes = new Map<string, Attempt & { readonly what: string; readonly requestId: string }>();
  /** UIDs, by key, of Services that were seen with a class nobody here serves. */
  readonly #foreign = new Map<string, string>();
  /** Services that a provider process has said are not its own, by what their annotations say. */
  readonly #declined = new Map<string, { readonly service: Service; readonly bootId: string }>();
  readonly #refused = new Map<string, Refused>();
  /** Whose load balancer there may be of which nothing else is known. */
  readonly #lost = new Map<string, Attempt>();
  /** By key, then by provider. */
  readonly #formers = new Map<string, { readonly uid: string; readonly byProvider: Map<string, Former> }>();
  /** Providers, by key, that are known to have nothing of the Service any more. */
  readonly #retired = new Map<string, Set<string>>();
  /** UIDs, by key, of Services whose load balancer was taken down. */
  readonly #cleaned = new Map<string, string>();
  /** By key: Services that are gone, as they last were. */
  readonly #last = new Map<string, Service>();
  readonly #newId: () => string;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  entry(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** All entries; for the pass over nodes. */
  entries(): IterableIterator<[string, Entry]> {
    return this.#entries.entries();
  }

  record(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#deletions.delete(key);
    this.#cleaned.delete(key);
    this.#declined.delete(key);
    this.#lost.delete(key);
  }

  /** Something is remembered of the Service. */
  knows(key: string): boolean {
    return [
      this.#entries,
      this.#deletions,
      this.#changes,
      this.#foreign,
      this.#declined,
      this.#refused,
      this.#lost,
      this.#cleaned,
    ].some((known) => known.has(key));
  }

  deletion(key: string, uid: string): Deletion | undefined {
    const deletion = this.#deletions.get(key);
    return deletion?.service.metadata.uid === uid ? deletion : undefined;
  }

  recordDeletion(key: string, deletion: Deletion): void {
    this.#deletions.set(key, deletion);
  }

  /** Its load balancer was asked to go, and may be gone: what is recorded of it no longer says how it is. */
  isDeletionAsked(key: string, uid: string): boolean {
    return this.deletion(key, uid) !== undefined || this.#changes.get(key)?.what === deletionOf(uid);
  }

  /** The id of one intended change: the same for each try until the change is another, or was {@link settled}. */
  attempt(key: string, what: string, attempt: Attempt): string {
    const change = this.#changes.get(key);
    if (change?.what === what) return change.requestId;
    const requestId = this.#newId();
    this.#changes.set(key, { ...attempt, what, requestId });
    return requestId;
  }

  /** What was asked for and is not {@link settled}: something may have come of it. */
  attempted(key: string): Attempt | undefined {
    return this.#changes.get(key);
  }

  /** Whose load balancer there is or may be, by what was asked for and accepted. */
  holder(key: string): Attempt | undefined {
    return this.#entries.get(key) ?? this.#changes.get(key) ?? this.#deletions.get(key) ?? this.#lost.get(key);
  }

  /** Keys that have a {@link holder}. */
  holderKeys(): ReadonlySet<string> {
    const known = [this.#entries, this.#changes, this.#deletions, this.#lost];
    return new Set(known.flatMap((one) => [...one.keys()]));
  }

  /** Keys of Services, gone ones among them, whose is or may be a load balancer: by its id, or by the UID that the cloud has for it. */
  holdersOf(wanted: {
    readonly provider: string;
    readonly loadBalancerId: string;
    readonly uid: string | undefined;
  }): readonly string[] {
    return [...this.holderKeys()].filter((key) => {
      const entry = this.#entries.get(key);
      const isSame = entry?.provider === wanted.provider && entry.loadBalancerId === wanted.loadBalancerId;
      return isSame || this.holder(key)?.service.metadata.uid === wanted.uid;
    });
  }

  /** The intended change was answered: the next one is new, even if it wishes the same. */
  settled(key: string): void {
    this.#changes.delete(key);
  }

  /** As the Service was when the provider's process `bootId` said that it is not its own. */
  declined(key: string, bootId: string): Service | undefined {
    const declined = this.#declined.get(key);
    return declined?.bootId === bootId ? declined.service : undefined;
  }

  recordDeclined(key: string, service: Service, bootId: string): void {
    this.drop(key);
    this.#declined.set(key, { service, bootId });
  }

  recordRefused(key: string, refused: Refused): void {
    this.#refused.set(key, refused);
  }

  /** What was refused and still is. */
  refused(key: string, service: Service, bootId: string, nowMs: number): Refused | undefined {
    const refused = this.#refused.get(key);
    if (refused?.bootId === bootId && nowMs < refused.untilMs && !needsUpdate(refused.service, service)) return refused;
    this.#refused.delete(key);
    return undefined;
  }

  /** The first of {@link formers}. */
  former(key: string, uid: string): Former | undefined {
    return this.formers(key, uid)[0];
  }

  formers(key: string, uid: string): readonly Former[] {
    const known = this.#formers.get(key);
    return known?.uid === uid ? [...known.byProvider.values()] : [];
  }

  recordFormer(key: string, uid: string, former: Former): void {
    const known = this.#formers.get(key);
    const byProvider = known?.uid === uid ? known.byProvider : new Map<string, Former>();
    this.#formers.set(key, { uid, byProvider: byProvider.set(former.provider, former) });
  }

  /** Nothing of it is left, or it is no former one. */
  retired(key: string, provider: string): void {
    this.#formers.get(key)?.byProvider.delete(provider);
    const retired = this.#retired.get(key) ?? new Set();
    this.#retired.set(key, retired.add(provider));
  }

  isRetired(key: string, provider: string): boolean {
    return this.#retired.get(key)?.has(provider) === true;
  }

  isForeign(key: string, uid: string): boolean {
    return this.#foreign.get(key) === uid;
  }

  recordForeign(key: string, uid: string): void {
    this.#foreign.set(key, uid);
  }

  /** Somebody here serves its class, by now. */
  recordOurs(key: string): void {
    this.#foreign.delete(key);
  }

  /** As the Service was when it went. */
  last(key: string, uid: string): Service | undefined {
    const last = this.#last.get(key);
    return last?.metadata.uid === uid ? last : undefined;
  }

  /** One that came and went while an earlier one's load balancer is still there says nothing of that. */
  recordLast(key: string, service: Service): void {
    const holder = this.holder(key)?.service;
    if (holder === undefined || holder.metadata.uid === service.metadata.uid) this.#last.set(key, service);
  }

  isCleaned(key: string, uid: string): boolean {
    return this.#cleaned.get(key) === uid;
  }

  /** Nothing of the Service is left at the cloud, and it has been told so. */
  recordCleaned(key: string, uid: string): void {
    this.drop(key);
    this.#cleaned.set(key, uid);
  }

  /** Nothing is known of the load balancer but whose it is: it must be read again, and taken down when nobody wishes for it any more. */
  lose(key: string, holder: Attempt | undefined = this.holder(key)): void {
    this.drop(key);
    if (holder !== undefined) this.#lost.set(key, { service: holder.service, provider: holder.provider });
  }

  /** Nothing is known of a load balancer, nor that there is one. */
  drop(key: string): void {
    this.#entries.delete(key);
    this.#deletions.delete(key);
    this.#changes.delete(key);
    this.#declined.delete(key);
    this.#refused.delete(key);
    this.#lost.delete(key);
  }

  /** The Service itself is gone. */
  forget(key: string): void {
    this.drop(key);
    this.#formers.delete(key);
    this.#retired.delete(key);
    this.#foreign.delete(key);
    this.#cleaned.delete(key);
    this.#last.delete(key);
  }
}
