import type { Lease, LeaseSpec } from "../api/lease.ts";
import type { ObjectReference } from "../api/meta.ts";
import type { CallOptions, JsonObject, KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type Resource, formatMicroTime, metaFromJson } from "../kube/resources/codec.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import type { Logger } from "../telemetry/log.ts";
import type { OwnedSignal } from "../util/abort.ts";
import type { Clock, Timer } from "../util/clock.ts";
import { deepEqual } from "../util/equal.ts";
import { type JsonRecord, numberField, recordField, stringField } from "../util/json.ts";

export interface LeaseLockDependencies {
  readonly client: KubeClient;
  readonly lock: { readonly namespace: string; readonly name: string };
  readonly identity: string;
  /** Of one request. */
  readonly timeoutMs: number;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly annotations: LeaseAnnotation;
  /** A holder had to read the lease because its update was refused. */
  readonly onSlowPath: () => void;
}

/** How long the answer to a write is waited for that would be cut off otherwise. */
const ANSWER_MS = 1000;

/** One Lease as this process has seen it, and the rules by which it may be taken. */
export class LeaseLock {
  readonly #deps: LeaseLockDependencies;
  #stored: StoredLease | undefined;
  #seen: LeaseSpec | undefined;
  /** When the spec was last seen to change, by our own clock. */
  #seenMs = 0;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Writes that were sent and not answered yet. */
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(dependencies: LeaseLockDependencies) {
    this.#deps = dependencies;
  }

  /** "" when nobody holds it, or nothing is known yet. */
  get holder(): string {
    return this.#seen?.holderIdentity ?? "";
  }

  /** To watch from; undefined: it was never read. */
  get resourceVersion(): string | undefined {
    return this.#stored?.metadata.resourceVersion;
  }

  /** Until when, by our own clock, nobody else can take it: counted from the moment the last write that was answered was sent. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** From when on, by our own clock, this process may take it: it was released, seen unchanged for its duration, or seen to be ours. */
  get takeableAtMs(): number {
    if (this.holder === this.#deps.identity) return this.#seenMs;
    const durationMs = this.holder === "" ? 0 : (this.#seen?.leaseDurationSeconds ?? 0) * 1000;
    return this.#seenMs + durationMs + this.deferMs;
  }

  /** How much longer than the others this process leaves a free lease alone. */
  get deferMs(): number {
    return this.#deps.annotations.deferMs?.() ?? 0;
  }

  reference(): ObjectReference {
    const { namespace, name } = this.#deps.lock;
    const metadata = this.#stored?.metadata;
    const versions = metadata === undefined ? {} : { resourceVersion: metadata.resourceVersion };
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      namespace,
      name,
      uid: metadata?.uid ?? "",
      ...versions,
    };
  }

  /** True when the lease is ours now. Never throws: a failure is logged and a later try may succeed. */
  async tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#tryOnce(signal);
    } catch (error) {
      if (signal.aborted) return false;
      const fields = { lease: this.#name(), err: error };
      if (isApiError(error, "conflict")) this.#deps.log.debug(2, "Lease was written by another first", fields);
      else this.#deps.log.warn("Lease not acquired or renewed", fields);
      return false;
    }
  }

  /** Takes in what a watch shows. A holder knows better itself. */
  observe(stored: StoredLease): void {
    if (this.holder !== this.#deps.identity) this.#see(stored);
  }

  /** Writes what is proposed on the lease of another. Gives up if it has changed: whoever sees the change may propose anew. Never throws. */
  async propose(signal: AbortSignal): Promise<void> {
    const { annotations, identity, log } = this.#deps;
    if (this.#stored === undefined || this.holder === "" || this.holder === identity) return;
    const proposal = annotations.propose?.() ?? {};
    if (Object.keys(proposal).length === 0) return;
    try {
      await this.#update(this.#stored, this.#stored.spec, signal, proposal);
    } catch (error) {
      log.debug(2, "Lease not annotated", { lease: this.#name(), err: error });
    }
  }

  /**
   * Gives the lease up so that the next process need not wait for it to expire. False: it was not ours. A write that was cut off may have
   * been carried out all the same, and what it has made ours is given up, too.
   */
  async release(signal: AbortSignal): Promise<boolean> {
    const { identity, annotations } = this.#deps;
    await this.#underWay;
    let stored = this.#stored;
    if (stored?.spec.holderIdentity !== identity) return false;
    const written = annotations.write();
    // From here on another may hold it, whether an answer comes or not.
    annotations.read(stored.metadata.annotations, "");
    while (stored?.spec.holderIdentity === identity) {
      try {
        await this.#update(stored, this.#released(stored.spec), signal, written);
        return true;
      } catch (error) {
        if (!isApiError(error, "conflict")) throw error;
        stored = await this.#read(signal);
      }
    }
    return false;
  }

  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    if (this.holder === this.#deps.identity && this.#stored !== undefined && this.#isValid()) {
      if (await this.#renewAtOnce(this.#stored, signal)) return true;
      this.#deps.onSlowPath();
    }
    const stored = await this.#read(signal);
    if (stored === undefined) return this.#create(signal);
    this.#see(stored);
    const { spec } = stored;
    const ours = spec.holderIdentity === this.#deps.identity;
    if (!ours && this.takeableAtMs > this.#deps.clock.monotonicMs()) {
      this.#deps.log.debug(4, "Lease is not to be taken yet", { lease: this.#name(), holder: spec.holderIdentity });
      return false;
    }
    await this.#update(stored, ours ? this.#renewed(spec) : this.#acquired(spec.leaseTransitions + 1), signal);
    return true;
  }

  /** The usual renewal: one request, guarded by the version of our last write. */
  async #renewAtOnce(stored: StoredLease, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#update(stored, this.#renewed(stored.spec), signal);
      return true;
    } catch (error) {
      this.#deps.log.debug(2, "Lease not renewed at once; reading it", { lease: this.#name(), err: error });
      return false;
    }
  }

  async #read(signal: AbortSignal): Promise<StoredLease | undefined> {
    try {
      return await this.#deps.client.get(LEASES, this.#deps.lock, this.#options(signal));
    } catch (error) {
      if (isApiError(error, "notFound")) return undefined;
      throw error;
    }
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const { client, lock } = this.#deps;
    const annotations = noted({}, this.#deps.annotations.write());
    const body: JsonObject = { metadata: { ...lock, annotations }, spec: { ...this.#acquired(0) } };
    await this.#write((options) => client.create(LEASES, lock.namespace, body, options), signal);
    return true;
  }

  async #update(
    stored: StoredLease,
    spec: LeaseSpec,
    signal: AbortSignal,
    changes = this.#deps.annotations.write(),
  ): Promise<void> {
    // What newer servers keep in the spec beside our five fields stays as it was.
    const metadata = recordField(stored.raw, "metadata");
    const annotations = noted(recordField(metadata, "annotations"), changes);
    const body = {
      ...stored.raw,
      metadata: { ...metadata, annotations },
      spec: { ...recordField(stored.raw, "spec"), ...spec },
    };
    await this.#write((options) => this.#deps.client.update(LEASES, this.#deps.lock, body, options), signal);
  }

  #write(send: (options: CallOptions) => Promise<StoredLease>, signal: AbortSignal): Promise<void> {
    const written = this.#send(send, signal);
    // Without a value: each would hold on to the one before, for as long as the process leads.
    this.#underWay = Promise.allSettled([this.#underWay, written]).then(() => undefined);
    return written;
  }

  async #send(send: (options: CallOptions) => Promise<StoredLease>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    using late = lateSignal(signal, ANSWER_MS, clock);
    const stored = await send(this.#options(late.signal));
    // A watch may have shown what came after. Reads always count: a server that was restored from a backup counts on from there.
    if (!isOlder(stored, this.#stored)) this.#see(stored, sentAtMs);
  }

  #see(stored: StoredLease, sentAtMs?: number): void {
    this.#stored = stored;
    const isOurs = stored.spec.holderIdentity === this.#deps.identity;
    const heldUntilMs = sentAtMs === undefined ? undefined : sentAtMs + stored.spec.leaseDurationSeconds * 1000;
    if (!isOurs) this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    else if (heldUntilMs !== undefined) this.#heldUntilMs = heldUntilMs;
    this.#deps.annotations.read(stored.metadata.annotations, stored.spec.holderIdentity, heldUntilMs);
    if (deepEqual(this.#seen, stored.spec)) return;
    this.#seen = stored.spec;
    this.#seenMs = this.#deps.clock.monotonicMs();
  }

  #isValid(): boolean {
    const durationMs = (this.#seen?.leaseDurationSeconds ?? 0) * 1000;
    return this.#seenMs + durationMs > this.#deps.clock.monotonicMs();
  }

  #acquired(leaseTransitions: number): LeaseSpec {
    const now = formatMicroTime(this.#deps.clock.nowMs());
    return {
      holderIdentity: this.#deps.identity,
      // Others must not count on less than we do; client-go rounds down (leaderelection.go v0.36.3).
      leaseDurationSeconds: Math.ceil(this.#deps.leaseDurationMs / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    };
  }

  #renewed({ acquireTime, leaseTransitions }: LeaseSpec): LeaseSpec {
    return { ...this.#acquired(leaseTransitions), acquireTime };
  }

  #released(spec: LeaseSpec): LeaseSpec {
    const now = formatMicroTime(this.#deps.clock.nowMs());
    return { ...spec, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
  }

  #options(signal: AbortSignal): CallOptions {
    return { signal, timeoutMs: this.#deps.timeoutMs };
  }

  #name(): string {
    return `${this.#deps.lock.namespace}/${this.#deps.lock.name}`;
  }
}

/** Annotations once `changes` are made to them; undefined takes one away. */
function noted(
  annotations: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries({ ...annotations, ...changes }).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, value] as const] : [],
    ),
  );
}

/** Whether it is an earlier state of the same object. Versions of one resource can be compared as numbers (KEP-5504, Kubernetes 1.35). */
function isOlder({ metadata }: StoredLease, than: StoredLease | undefined): boolean {
  const versions = [metadata.resourceVersion, than?.metadata.resourceVersion ?? ""];
  if (metadata.uid !== than?.metadata.uid || !versions.every((version) => /^\d+$/.test(version))) return false;
  const [own = 0n, other = 0n] = versions.map(BigInt);
  return own < other;
}

/** Aborts `delayMs` after `parent` does; at once if that has happened already. */
function lateSignal(parent: AbortSignal, delayMs: number, clock: Clock): OwnedSignal {
  const controller = new AbortController();
  let timer: Timer | undefined;
  const end = (): void => controller.abort(parent.reason);
  const onAbort = (): void => {
    timer = clock.schedule(delayMs, end);
  };
  if (parent.aborted) end();
  else parent.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => {
      timer?.cancel();
      parent.removeEventListener("abort", onAbort);
    },
  };
}

/** A Lease together with the object it was read from, which a full replace must not lose fields of. */
export interface StoredLease extends Lease {
  readonly raw: JsonRecord;
}

/** coordination.k8s.io/v1 leases. JSON only: one small object every two seconds. */
export const LEASES: Resource<StoredLease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
  fromJson,
};

function fromJson(object: JsonRecord): StoredLease {
  const spec = recordField(object, "spec");
  return {
    metadata: metaFromJson(object),
    spec: {
      holderIdentity: stringField(spec, "holderIdentity"),
      leaseDurationSeconds: numberField(spec, "leaseDurationSeconds"),
      acquireTime: stringField(spec, "acquireTime"),
      renewTime: stringField(spec, "renewTime"),
      leaseTransitions: numberField(spec, "leaseTransitions"),
    },
    raw: object,
  };
}
