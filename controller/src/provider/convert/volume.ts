import {
  type Volume as WireVolume,
  VolumeRef as WireVolumeRef,
  type VolumeResult as WireVolumeResult,
} from "@cloudwire/proto/cloudprovider/v1/volume";
import type { Volume, VolumeResult, VolumeRef } from "../model/volume.ts";
import { errorOfItem } from "./errors.ts";
import { absenceFromProto, type AnswerContext, brokenAnswer } from "./instance.ts";
import { timeMs } from "./scalars.ts";

export function volumeRefToProto({ name, uid, source }: VolumeRef): WireVolumeRef {
  return { name, uid, source: sourceToProto(source) };
}

function sourceToProto(source: VolumeRef["source"]): WireVolumeRef["source"] {
  switch (source.kind) {
    case "csi":
      return { $case: "csi", value: { driver: source.driver, volumeHandle: source.volumeHandle } };
    case "inTree":
      return { $case: "inTree", value: { plugin: source.plugin, volumeId: source.volumeId } };
  }
  return source satisfies never;
}

export function volumeRefBytes(ref: WireVolumeRef): number {
  return WireVolumeRef.encode(ref).finish().length;
}

/** Like an instance's result. `what` names provider and volume in error messages. */
export function volumeAnswer(result: WireVolumeResult, what: string, context: AnswerContext): VolumeResult {
  const { outcome } = result;
  if (outcome === undefined) {
    return { kind: "unknown", error: brokenAnswer("the result has no outcome", what, context.requestId) };
  }
  switch (outcome.$case) {
    case "volume": {
      const { witness, dataAgeMs = 0 } = context;
      const readTimeMs = timeMs(result.readTime) ?? witness.receivedAtMs - dataAgeMs;
      return { kind: "present", volume: volumeFromProto(outcome.value), readTimeMs };
    }
    case "absent": {
      const absence = absenceFromProto(outcome.value, undefined, context.witness);
      if (typeof absence !== "string") return { kind: "absent", ...absence };
      return { kind: "unknown", error: brokenAnswer(absence, what, context.requestId) };
    }
    case "unknown":
      return { kind: "unknown", error: errorOfItem(outcome.value, what, context.requestId) };
    case "notOwned":
      return { kind: "notOwned", message: outcome.value.message };
  }
  return outcome satisfies never;
}

function volumeFromProto(wire: WireVolume): Volume {
  return {
    id: wire.id,
    zones: wire.zones,
    region: wire.region === "" ? undefined : wire.region,
    labels: wire.labels,
    nodeAffinity: wire.nodeAffinity.map((term) => term.requirements),
  };
}
