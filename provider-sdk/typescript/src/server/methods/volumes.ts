import type {
  BatchGetVolumesRequest,
  BatchGetVolumesResponse,
  VolumeRef as WireVolumeRef,
  VolumeResult as WireVolumeResult,
} from "@cloudwire/proto/cloudprovider/v1/volume";
import { fromWireVolumeRef, toWireVolume } from "../convert/objects.ts";
import type { Volume, VolumeHandlers, VolumeRef } from "../../definition/volumes.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RpcCall } from "../rpc/method.ts";
import { fromDuration } from "../../util/clock.ts";
import { toWireResult, unknownOutcome } from "./results.ts";
import { BatchLookUp, type LookUpResult } from "./lookup.ts";
import { defaultMaxDataAgeMs } from "./instances.ts";
import { knownScope, type ProviderRuntime, recorderFor } from "../runtime.ts";

type Planned =
  | { readonly kind: "answered"; readonly outcome: WireVolumeResult["outcome"] }
  | { readonly kind: "lookUp"; readonly key: string };

/** Serves BatchGetVolumes from `get` or `getMany`. */
export class VolumeBatch {
  readonly #runtime: ProviderRuntime;
  readonly #lookUp: BatchLookUp<VolumeRef, Volume>;

  constructor(runtime: ProviderRuntime, handlers: VolumeHandlers) {
    this.#runtime = runtime;
    this.#lookUp = new BatchLookUp<VolumeRef, Volume>({ handlers, log: runtime.log, nowMs: runtime.nowMs });
  }

  async get(request: BatchGetVolumesRequest, call: RpcCall): Promise<BatchGetVolumesResponse> {
    const recorder = recorderFor(this.#runtime, request, call);
    const refs = new Map<string, VolumeRef>();
    const planned = request.volumes.map((volume) => this.#plan(volume, refs));
    const maxDataAgeMs = fromDuration(request.maxDataAge, defaultMaxDataAgeMs);
    const found = await this.#lookUp.ask({ refs, recorder, maxDataAgeMs });
    return {
      results: planned.map((item) =>
        item.kind === "answered" ? { outcome: item.outcome, readTime: undefined } : this.#toWire(found.get(item.key)),
      ),
      scopeId: knownScope(this.#runtime),
      stats: recorder.stats,
    };
  }

  #plan(volume: WireVolumeRef, refs: Map<string, VolumeRef>): Planned {
    const ref = fromWireVolumeRef(volume);
    if (!ref) {
      const error = new ProviderError("FIELD_MISSING", `PersistentVolume ${volume.name} has no source`);
      return { kind: "answered", outcome: unknownOutcome(error) };
    }
    const foreign = this.#foreign(ref);
    if (foreign !== undefined) return { kind: "answered", outcome: { $case: "notOwned", value: { message: foreign } } };
    const key = JSON.stringify(ref.source);
    if (!refs.has(key)) refs.set(key, ref);
    return { kind: "lookUp", key };
  }

  /** Why the volume is another provider's; undefined if it is not. */
  #foreign({ source }: VolumeRef): string | undefined {
    const claimed = this.#runtime.capabilities.volumes;
    if (source.kind === "csi")
      return claimed?.csiDrivers.includes(source.driver)
        ? undefined
        : `CSI driver ${source.driver} is not of this cloud`;
    return claimed?.inTreePlugins.includes(source.plugin) ? undefined : `plugin ${source.plugin} is not of this cloud`;
  }

  #toWire(result: LookUpResult<Volume> | undefined): WireVolumeResult {
    if (!result) {
      const error = new ProviderError("INVARIANT_BROKEN", "the provider did not answer for this volume");
      return { outcome: unknownOutcome(error), readTime: undefined };
    }
    const { readTime } = result;
    if (result.kind === "common") return { outcome: result.outcome, readTime };
    const value = toWireResult(this.#runtime.rules, "Volume", () => toWireVolume(result.found));
    if (!(value instanceof ProviderError)) return { outcome: { $case: "volume", value }, readTime };
    this.#runtime.log.error("The provider answered a volume that breaks the contract", { error: value });
    return { outcome: unknownOutcome(value), readTime };
  }
}
