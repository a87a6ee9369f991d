import type { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  RawExtension,
  Status,
  type Time,
  Unknown,
  WatchEvent,
  type Condition as WireCondition,
  type ObjectMeta as WireObjectMeta,
} from "../../../gen/cloudwire/kube/v1/kube.ts";
import type { Condition, ObjectMeta, ObjectName } from "../../api/meta.ts";
import {
  DecodeError,
  type JsonRecord,
  asRecord,
  numberField,
  optionalString,
  recordField,
  recordsField,
  stringField,
  stringMapField,
  stringsField,
} from "../../util/json.ts";
import { InterningReader, type StringCache } from "../../util/string-cache.ts";
import type { ApiStatus } from "../errors.ts";

/** A kind the client can speak: where it lives and how its bytes become objects. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Throws DecodeError when a field has another type than Kubernetes gives it. */
  readonly fromJson: (object: JsonRecord) => T;
  /** Left out for kinds that are only ever read as JSON. */
  readonly protobuf?: ProtobufCodec<T>;
}

/** Decoders over the message itself: the "k8s\0" envelope is taken off before. */
export interface ProtobufCodec<T> {
  readonly decode: (reader: BinaryReader) => T;
  readonly decodeList: (reader: BinaryReader) => DecodedList<T>;
}

/** One page of a list. */
export interface DecodedList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly continue: string;
}

/** "v1" or "coordination.k8s.io/v1". */
export function apiVersionOf({ group, version }: Resource<unknown>): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Path of a collection: of one namespace, or of all when `namespace` is left out. */
export function collectionPath(resource: Resource<unknown>, namespace?: string): string {
  const { group, version, plural } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === undefined || namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${plural}`;
}

export function objectPath(resource: Resource<unknown>, { namespace, name }: ObjectName, subresource?: string): string {
  const tail = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}${tail}`;
}

/** `?a=b&c=d` of what is set; "" when nothing is. */
export function queryString(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

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

/** One object of an answer, in whichever encoding the server chose. */
export function decodeObject<T>(
  resource: Resource<T>,
  bytes: Uint8Array,
  contentType: string | undefined,
  strings: StringCache,
): T {
  return naming(resource.kind, () => {
    if (!isProtobuf(contentType)) return resource.fromJson(ofKind(parseJson(bytes), resource.kind));
    return codecOf(resource).decode(openEnvelope(bytes, strings).reader);
  });
}

/** One page of a list. */
export function decodeList<T>(
  resource: Resource<T>,
  bytes: Uint8Array,
  contentType: string | undefined,
  strings: StringCache,
): DecodedList<T> {
  return naming(`${resource.kind}List`, () => {
    if (isProtobuf(contentType)) return codecOf(resource).decodeList(openEnvelope(bytes, strings).reader);
    const list = ofKind(parseJson(bytes), `${resource.kind}List`);
    const metadata = recordField(list, "metadata");
    return {
      items: recordsField(list, "items", resource.fromJson),
      resourceVersion: stringField(metadata, "resourceVersion"),
      continue: stringField(metadata, "continue"),
    };
  });
}

/** An answer of another kind (an object where a list was asked for) must not be read as an empty one. */
function ofKind(object: JsonRecord, wanted: string): JsonRecord {
  const kind = stringField(object, "kind");
  if (kind !== wanted) throw new DecodeError(`want kind "${wanted}", got "${kind}"`);
  return object;
}

function codecOf<T>(resource: Resource<T>): NonNullable<Resource<T>["protobuf"]> {
  if (resource.protobuf === undefined) throw new DecodeError("the server answered protobuf though JSON was asked for");
  return resource.protobuf;
}

function naming<T>(kind: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new DecodeError(`cannot decode ${kind}`, { cause: error });
  }
}

/** "k8s\0": opens every protobuf body. apimachinery/pkg/runtime/serializer/protobuf/protobuf.go v0.36.3. */
const MAGIC = 0x6b387300;

export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
export const JSON_TYPE = "application/json";

export function isProtobuf(contentType: string | undefined): boolean {
  return contentType !== undefined && contentType.startsWith(PROTOBUF_TYPE);
}

/** Takes the envelope off: which kind it is and a reader over the message. */
export function openEnvelope(bytes: Uint8Array, cache: StringCache): { kind: string; reader: InterningReader } {
  const magic = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  if (magic !== MAGIC) throw new DecodeError(`protobuf body of ${bytes.length} bytes does not start with "k8s\\0"`);
  const unknown = Unknown.decode(new InterningReader(bytes.subarray(4), cache));
  return { kind: unknown.typeMeta?.kind ?? "", reader: new InterningReader(unknown.raw, cache) };
}

/** One frame of a protobuf watch: no envelope around the event, one around its object. */
export function openWatchFrame(frame: Uint8Array, cache: StringCache): { type: string; object: Uint8Array } {
  const { type, object = RawExtension.decode(new Uint8Array()) } = WatchEvent.decode(new InterningReader(frame, cache));
  return { type, object: object.raw };
}

export function parseJson(bytes: Uint8Array): JsonRecord {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DecodeError(`answer of ${bytes.length} bytes is not JSON`, { cause: error });
  }
  return asRecord(value, "answer");
}

/** The Status in an answer that failed; whatever is not a Status (a proxy's page) becomes its message. */
export function readStatus(bytes: Uint8Array, contentType: string | undefined, cache: StringCache): ApiStatus {
  try {
    return isProtobuf(contentType) ? statusFromEnvelope(bytes, cache) : statusFromJson(parseJson(bytes));
  } catch {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
    return { message: text.slice(0, 200).trim(), reason: "", code: 0, retryAfterSeconds: 0 };
  }
}

export function statusFromJson(status: JsonRecord): ApiStatus {
  return {
    message: stringField(status, "message"),
    reason: stringField(status, "reason"),
    code: numberField(status, "code"),
    retryAfterSeconds: numberField(recordField(status, "details"), "retryAfterSeconds"),
  };
}

export function statusFromEnvelope(bytes: Uint8Array, cache: StringCache): ApiStatus {
  const { message, reason, code, details } = Status.decode(openEnvelope(bytes, cache).reader);
  return { message, reason, code, retryAfterSeconds: details?.retryAfterSeconds ?? 0 };
}
