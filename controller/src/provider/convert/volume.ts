import type { Absence } from "@cloudwire/proto/cloudprovider/v1/common";
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

/** Of the message. */
export function volumeRefBytes(ref: WireVolumeRef): number {
  return WireVolumeRef.encode(ref).finish().length;
}

/** One result as our answer, judged as an instance's is. `what` names provider and volume in the message of an error. */
export function volumeAnswer(result: WireVolumeResult, what: string, context: AnswerContext): VolumeResult {
  const { outcome } = result;
  if (outcome === undefined) {
    return { kind: "unknown", error: brokenAnswer("the result has no outcome", what, context.requestId) };
  }
  switch (outcome.$case) {
    case "volume":
      return presentAnswer(outcome.value, result.readTime, context);
    case "absent":
      return absentAnswer(outcome.value, what, context);
    case "unknown":
      return { kind: "unknown", error: errorOfItem(outcome.value, what, context.requestId) };
    case "notOwned":
      return { kind: "notOwned", message: outcome.value.message };
  }
  return outcome satisfies never;
}

function presentAnswer(wire: WireVolume, readTime: Date | undefined, context: AnswerContext): VolumeResult {
  const { witness, dataAgeMs = 0 } = context;
  return {
    kind: "present",
    volume: volumeFromProto(wire),
    readTimeMs: timeMs(readTime) ?? witness.receivedAtMs - dataAgeMs,
  };
}

function absentAnswer(wire: Absence, what: string, context: AnswerContext): VolumeResult {
  const absence = absenceFromProto(wire, undefined, context.witness);
  return typeof absence === "string"
    ? { kind: "unknown", error: brokenAnswer(absence, what, context.requestId) }
    : { kind: "absent", ...absence };
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
