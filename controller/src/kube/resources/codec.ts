import type {
  Condition as WireCondition,
  ObjectMeta as WireObjectMeta,
  Time,
} from "../../../gen/cloudwire/kube/v1/kube.ts";
import type { Condition, ObjectMeta } from "../../api/meta.ts";
import {
  DecodeError,
  type JsonRecord,
  numberField,
  optionalString,
  recordField,
  stringField,
  stringMapField,
  stringsField,
} from "../../util/json.ts";

export function metaFromJson(object: JsonRecord): ObjectMeta {
  const meta = recordField(object, "metadata");
  return {
    name: stringField(meta, "name"),
    namespace: stringField(meta, "namespace"),
    uid: stringField(meta, "uid"),
    resourceVersion: stringField(meta, "resourceVersion"),
    generation: numberField(meta, "generation"),
    creationTimestampMs: timeFromJson(meta, "creationTimestamp") ?? 0,
    deletionTimestampMs: timeFromJson(meta, "deletionTimestamp"),
    labels: stringMapField(meta, "labels"),
    annotations: stringMapField(meta, "annotations"),
    finalizers: stringsField(meta, "finalizers"),
  };
}

const NO_META: ObjectMeta = metaFromJson({});

export function metaFromWire(meta: WireObjectMeta | undefined): ObjectMeta {
  if (meta === undefined) return NO_META;
  return {
    name: meta.name,
    namespace: meta.namespace,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    generation: meta.generation,
    creationTimestampMs: timeFromWire(meta.creationTimestamp) ?? 0,
    deletionTimestampMs: timeFromWire(meta.deletionTimestamp),
    labels: compactMap(meta.labels),
    annotations: compactMap(meta.annotations),
    finalizers: compact(meta.finalizers),
  };
}

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_ENTRIES: Readonly<Record<string, never>> = Object.freeze({});

/**
 * For lists that are kept thousands of times: most are empty, and those are one; a list made by pushing has room for 17 items (V8), its copy
 * only for its own.
 */
export function compact<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NO_ITEMS : list.slice();
}

function compactMap(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const _ in map) return map;
  return NO_ENTRIES;
}

export function conditionFromJson(condition: JsonRecord): Condition {
  return {
    type: stringField(condition, "type"),
    status: stringField(condition, "status"),
    observedGeneration: numberField(condition, "observedGeneration"),
    lastTransitionTimeMs: timeFromJson(condition, "lastTransitionTime") ?? 0,
    reason: stringField(condition, "reason"),
    message: stringField(condition, "message"),
  };
}

export function conditionFromWire(condition: WireCondition): Condition {
  const { type, status, observedGeneration, reason, message } = condition;
  const lastTransitionTimeMs = timeFromWire(condition.lastTransitionTime) ?? 0;
  return { type, status, observedGeneration, lastTransitionTimeMs, reason, message };
}

/** RFC 3339 text to milliseconds. */
export function timeFromJson(record: JsonRecord, key: string): number | undefined {
  const text = optionalString(record, key);
  if (text === undefined || text === "") return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new DecodeError(`${key}: want an RFC 3339 time, got "${text}"`);
  return ms;
}

/** Go's zero Time: the year 1. apimachinery sends it for a Time that was never set. */
const GO_ZERO_SECONDS = -62_135_596_800;

/** `nanos` is never sent: metav1.Time drops it so that both encodings agree (time_proto.go, apimachinery v0.36.3). */
export function timeFromWire(time: Time | undefined): number | undefined {
  return time === undefined || time.seconds === GO_ZERO_SECONDS ? undefined : time.seconds * 1000;
}

/** Milliseconds as metav1.Time text: RFC 3339, whole seconds, UTC. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds as metav1.MicroTime text: always six digits (three are refused, kubernetes/kubernetes issue 141204). */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
