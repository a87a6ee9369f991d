import type { PersistentVolume, VolumeSource } from "../../api/persistent-volume.ts";
import type { Span, Tracing } from "../../telemetry/tracing.ts";
import { raceAbort } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import type { Priority } from "../../util/semaphore.ts";
import { type ProviderError, asProviderError, contractError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import { type Provider, silentError } from "../model/provider.ts";
import type { VolumeResult, VolumeRef } from "../model/volume.ts";

/** Looks up the volume of a PersistentVolume. */
export interface VolumeReader {
  /** Rejects only with the reason of `signal`, which affects only this caller. */
  get(pv: PersistentVolume, source: VolumeSource, signal: AbortSignal): Promise<VolumeKnowledge>;
}

export interface VolumeReaderDependencies {
  /** Empty before the first connection. */
  readonly providers: () => readonly Provider[];
  readonly clock: Clock;
  readonly settings: VolumeReaderSettings;
  readonly tracing: Tracing;
}

export interface VolumeReaderSettings {
  /** How long a request waits for others to share its call. */
  readonly windowMs: number;
  /** Maximum age of the cloud's data. */
  readonly maxDataAgeMs: number;
  readonly priority: Priority;
}

interface Batch {
  readonly refs: VolumeRef[];
  readonly answers: Promise<readonly VolumeResult[]>;
  /** Aborts when no caller waits any more. */
  readonly life: AbortController;
  waiting: number;
  /** Spans of the waiting work. */
  readonly askers: Span[];
}

/** Concurrent look-ups share a call to their provider. */
export class BatchingVolumeReader implements VolumeReader {
  readonly #deps: VolumeReaderDependencies;
  /** Not sent. */
  readonly #open = new Map<Provider, Batch>();

  constructor(deps: VolumeReaderDependencies) {
    this.#deps = deps;
  }

  async get(pv: PersistentVolume, source: VolumeSource, signal: AbortSignal): Promise<VolumeKnowledge> {
    const providers = this.#deps.providers();
    const ref = refOf(pv, source);
    const answers = await Promise.all(claimantsOf(source, providers).map((one) => this.#ask(one, ref, signal)));
    return consensusOf(answers, providers);
  }

  async #ask(provider: Provider, ref: VolumeRef, signal: AbortSignal): Promise<VolumeResult> {
    signal.throwIfAborted();
    const batch = this.#open.get(provider) ?? this.#begin(provider);
    const index = batch.refs.push(ref) - 1;
    batch.waiting++;
    const asker = this.#deps.tracing.current;
    if (asker !== undefined) batch.askers.push(asker);
    try {
      const answers = await raceAbort(batch.answers, signal);
      const error = contractError("INVARIANT_BROKEN", "the response has no result for the volume");
      return answers[index] ?? { kind: "unknown", error };
    } finally {
      batch.waiting--;
      if (signal.aborted && batch.waiting === 0) {
        this.#close(provider, batch);
        batch.life.abort(signal.reason);
      }
    }
  }

  #begin(provider: Provider): Batch {
    const { clock, settings } = this.#deps;
    const { promise: answers, resolve } = Promise.withResolvers<readonly VolumeResult[]>();
    const batch: Batch = { refs: [], answers, life: new AbortController(), waiting: 0, askers: [] };
    this.#open.set(provider, batch);
    clock.schedule(settings.windowMs, () => {
      this.#close(provider, batch);
      resolve(this.#send(provider, batch));
    });
    return batch;
  }

  #close(provider: Provider, batch: Batch): void {
    if (this.#open.get(provider) === batch) this.#open.delete(provider);
  }

  /** Never rejects. */
  async #send({ client }: Provider, { refs, life, askers }: Batch): Promise<readonly VolumeResult[]> {
    const { tracing, settings } = this.#deps;
    const { maxDataAgeMs, priority } = settings;
    const { signal } = life;
    if (signal.aborted) return [];
    try {
      const call = (): Promise<readonly VolumeResult[]> => client.getVolumes(refs, { signal, maxDataAgeMs, priority });
      return await tracing.shared(askers, call);
    } catch (error) {
      return refs.map(() => ({ kind: "unknown", error: asProviderError(error) }));
    }
  }
}

function refOf({ metadata: { name, uid } }: PersistentVolume, source: VolumeSource): VolumeRef {
  // During admission, an object with generateName has no name yet.
  return { name: name === "" ? "unnamed" : name, uid, source };
}

export type VolumeKnowledge =
  | VolumeResult
  /** The owner is unknown until a provider has responded. */
  | { readonly kind: "undecided"; readonly error: ProviderError };

/** The providers whose last handshake declares the volume's driver or plugin. */
export function claimantsOf(source: VolumeSource, providers: readonly Provider[]): readonly Provider[] {
  return providers.filter(({ info }) => info !== undefined && serves(info, source));
}

function serves({ capabilities: { volumes } }: ProviderInfo, source: VolumeSource): boolean {
  if (volumes === undefined) return false;
  return source.kind === "csi"
    ? volumes.csiDrivers.includes(source.driver)
    : volumes.inTreePlugins.includes(source.plugin);
}

/**
 * The combined result of all providers of the volume's driver (for example two accounts of one cloud). One that has the volume decides;
 * "absent" requires all, also those that have never responded and might declare the driver.
 */
export function consensusOf(answers: readonly VolumeResult[], providers: readonly Provider[]): VolumeKnowledge {
  const known =
    answers.find(({ kind }) => kind === "present") ??
    answers.find(({ kind }) => kind === "unknown") ??
    answers.find(({ kind }) => kind === "absent");
  if (known !== undefined && known.kind !== "absent") return known;
  const silent = providers.find(({ info }) => info === undefined);
  if (silent !== undefined || providers.length === 0) return { kind: "undecided", error: silence(silent) };
  return known ?? { kind: "notOwned", message: "no provider serves its driver" };
}

function silence(provider: Provider | undefined): ProviderError {
  if (provider === undefined) return contractError("PROVIDER_STARTING", "no provider has responded yet");
  return silentError(provider);
}
