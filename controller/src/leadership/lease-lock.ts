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
  /** `<hostname>_<uuid>`; unique to a process. */
  readonly identity: string;
  readonly timeoutMs: number;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly annotations: LeaseAnnotation;
  /** The leader had to read the Lease because its update was rejected. */
  readonly onSlowPath: () => void;
}

/** How long to wait for the response to a write after its signal has aborted. */
const ANSWER_MS = 1000;

/** One Lease as this process has last seen it, and the rules for acquiring it. */
export class LeaseLock {
  readonly #deps: LeaseLockDependencies;
  #stored: StoredLease | undefined;
  #seen: LeaseSpec | undefined;
  /** When the spec was last seen to change, by the local clock. */
  #seenMs = 0;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Writes in flight. */
  #inFlight: Promise<unknown> = Promise.resolve();

  constructor(dependencies: LeaseLockDependencies) {
    this.#deps = dependencies;
  }

  get holderIdentity(): string {
    return this.#seen?.holderIdentity ?? "";
  }

  get resourceVersion(): string | undefined {
    return this.#stored?.metadata.resourceVersion;
  }

  /** Until when no other process can take the Lease, by the local clock: counted from the start of the last acknowledged write. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** When this process may acquire the Lease, by the local clock: it was released, seen unchanged for its duration, or is held by this process. */
  get acquirableAtMs(): number {
    if (this.holderIdentity === this.#deps.identity) return this.#seenMs;
    const durationMs = this.holderIdentity === "" ? 0 : (this.#seen?.leaseDurationSeconds ?? 0) * 1000;
    return this.#seenMs + durationMs + this.deferMs;
  }

  /** How much longer than other candidates this process waits for a free Lease. */
  get deferMs(): number {
    return this.#deps.annotations.deferMs?.() ?? 0;
  }

  reference(): ObjectReference {
    const { uid = "", resourceVersion } = this.#stored?.metadata ?? {};
    const versions = resourceVersion === undefined ? {} : { resourceVersion };
    return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", ...this.#deps.lock, uid, ...versions };
  }

  /** True: this process holds the Lease. Never throws; failures are logged. */
  async tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#tryOnce(signal);
    } catch (error) {
      if (signal.aborted) return false;
      const fields = { lease: this.#name(), err: error };
      if (isApiError(error, "conflict")) this.#deps.log.debug(2, "Lease was changed by another process", fields);
      else this.#deps.log.warn("Could not acquire or renew the Lease", fields);
      return false;
    }
  }

  /** Takes the state from a watch. A leader ignores it: its own writes are newer. */
  observe(stored: StoredLease): void {
    if (this.holderIdentity !== this.#deps.identity) this.#see(stored);
  }

  /** Writes proposed annotations to the Lease of another process, unless it has changed. Never throws. */
  async propose(signal: AbortSignal): Promise<void> {
    const { annotations, identity, log } = this.#deps;
    if (this.#stored === undefined || this.holderIdentity === "" || this.holderIdentity === identity) return;
    const proposal = annotations.propose?.() ?? {};
    if (Object.keys(proposal).length === 0) return;
    try {
      await this.#update(this.#stored, this.#stored.spec, signal, proposal);
    } catch (error) {
      log.debug(2, "Could not annotate the Lease", { lease: this.#name(), err: error });
    }
  }

  /** Also releases a Lease acquired by a write whose response was cut off. False: this process did not hold the Lease. */
  async release(signal: AbortSignal): Promise<boolean> {
    const { identity, annotations } = this.#deps;
    await this.#inFlight;
    let stored = this.#stored;
    if (stored?.spec.holderIdentity !== identity) return false;
    const written = annotations.write();
    // From here on another process may hold it, even if no response comes.
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
    const { identity, log, onSlowPath, clock } = this.#deps;
    const validUntilMs = this.#seenMs + (this.#seen?.leaseDurationSeconds ?? 0) * 1000;
    if (this.holderIdentity === identity && this.#stored !== undefined && validUntilMs > clock.monotonicMs()) {
      try {
        await this.#update(this.#stored, this.#renewed(this.#stored.spec), signal);
        return true;
      } catch (error) {
        log.debug(2, "Could not renew the Lease; reading it", { lease: this.#name(), err: error });
      }
      onSlowPath();
    }
    const stored = await this.#read(signal);
    if (stored === undefined) return this.#create(signal);
    this.#see(stored);
    const { spec } = stored;
    const ours = spec.holderIdentity === this.#deps.identity;
    if (!ours && this.acquirableAtMs > this.#deps.clock.monotonicMs()) {
      this.#deps.log.debug(4, "Lease is held by another process", {
        lease: this.#name(),
        holderIdentity: spec.holderIdentity,
      });
      return false;
    }
    await this.#update(stored, ours ? this.#renewed(spec) : this.#acquired(spec.leaseTransitions + 1), signal);
    return true;
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
    const annotations = withChanges({}, this.#deps.annotations.write());
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
    // Keeps fields of newer API servers.
    const metadata = recordField(stored.raw, "metadata");
    const annotations = withChanges(recordField(metadata, "annotations"), changes);
    const body = {
      ...stored.raw,
      metadata: { ...metadata, annotations },
      spec: { ...recordField(stored.raw, "spec"), ...spec },
    };
    await this.#write((options) => this.#deps.client.update(LEASES, this.#deps.lock, body, options), signal);
  }

  #write(send: (options: CallOptions) => Promise<StoredLease>, signal: AbortSignal): Promise<void> {
    const written = this.#send(send, signal);
    // Without a value: otherwise each promise would reference the one before.
    this.#inFlight = Promise.allSettled([this.#inFlight, written]).then(() => undefined);
    return written;
  }

  async #send(send: (options: CallOptions) => Promise<StoredLease>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    using late = lateSignal(signal, ANSWER_MS, clock);
    const stored = await send(this.#options(late.signal));
    // A watch may have shown a later state. Reads always count: versions go back when etcd is restored from a backup.
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

  #acquired(leaseTransitions: number): LeaseSpec {
    const now = formatMicroTime(this.#deps.clock.nowMs());
    return {
      holderIdentity: this.#deps.identity,
      // Rounded up: others must not assume less than this process. client-go rounds down (leaderelection.go v0.36.3).
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

function withChanges(
  annotations: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries({ ...annotations, ...changes }).flatMap(([key, value]) =>
      typeof value === "string" ? [[key, value] as const] : [],
    ),
  );
}

/** True for an earlier state of the same object. Versions of one resource compare as numbers (KEP-5504, Kubernetes 1.35). */
function isOlder({ metadata }: StoredLease, than: StoredLease | undefined): boolean {
  const versions = [metadata.resourceVersion, than?.metadata.resourceVersion ?? ""];
  if (metadata.uid !== than?.metadata.uid || !versions.every((version) => /^\d+$/.test(version))) return false;
  const [own = 0n, other = 0n] = versions.map(BigInt);
  return own < other;
}

/** Aborts `delayMs` after `parent`; immediately if `parent` has already aborted. */
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

/** A Lease with the object it was read from: a full replace must keep all fields. */
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
