import type { BinaryReader } from "@bufbuild/protobuf/wire";
import * as Wire from "../../../gen/cloudwire/kube/v1/kube.ts";
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

/** A kind of object: its path and its codecs. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Throws DecodeError when a field has another type than Kubernetes gives it. */
  readonly fromJson: (object: JsonRecord) => T;
  /** undefined: only JSON. */
  readonly protobuf?: ProtobufCodec<T>;
}

/** Decoders of the message inside the "k8s\0" envelope. */
export interface ProtobufCodec<T> {
  readonly decode: (reader: BinaryReader) => T;
  readonly decodeList: (reader: BinaryReader) => DecodedList<T>;
}

export interface DecodedList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly continue: string;
}

export function apiVersionOf({ group, version }: Resource<unknown>): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Of one namespace, or of all without `namespace`. */
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

/** `?a=b&c=d` of the parameters that are set; "" without any. */
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

export function metaFromWire(meta: Wire.ObjectMeta | undefined): ObjectMeta {
  if (meta === undefined) return NO_META;
  const { creationTimestamp, deletionTimestamp, labels, annotations, finalizers, ...rest } = meta;
  return {
    ...rest,
    creationTimestampMs: timeFromWire(creationTimestamp) ?? 0,
    deletionTimestampMs: timeFromWire(deletionTimestamp),
    labels: compactMap(labels),
    annotations: compactMap(annotations),
    finalizers: compact(finalizers),
  };
}

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_ENTRIES: Readonly<Record<string, never>> = Object.freeze({});

/** Saves memory of cached lists: empty lists are one object, and a copy has no spare capacity (V8 reserves room for 17 items on push). */
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

export function conditionFromWire({ lastTransitionTime, ...condition }: Wire.Condition): Condition {
  return { ...condition, lastTransitionTimeMs: timeFromWire(lastTransitionTime) ?? 0 };
}

/** RFC 3339 text to milliseconds. */
export function timeFromJson(record: JsonRecord, key: string): number | undefined {
  const text = optionalString(record, key);
  if (text === undefined || text === "") return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new DecodeError(`${key}: expected an RFC 3339 time, got "${text}"`);
  return ms;
}

/** Go's zero Time: the year 1. apimachinery sends it for a Time that was never set. */
const GO_ZERO_SECONDS = -62_135_596_800;

/** `nanos` is never sent: metav1.Time drops it so that both encodings agree (time_proto.go, apimachinery v0.36.3). */
export function timeFromWire(time: Wire.Time | undefined): number | undefined {
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

/** One object of a response in the encoding that the server chose. */
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

/** Rejects another kind: an object in place of a list must not be read as an empty list. */
function ofKind(object: JsonRecord, expected: string): JsonRecord {
  const kind = stringField(object, "kind");
  if (kind !== expected) throw new DecodeError(`expected kind "${expected}", got "${kind}"`);
  return object;
}

export function codecOf<T>(resource: Resource<T>): ProtobufCodec<T> {
  if (resource.protobuf === undefined) throw new DecodeError("the server sent protobuf although JSON was requested");
  return resource.protobuf;
}

function naming<T>(kind: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new DecodeError(`cannot decode ${kind}`, { cause: error });
  }
}

export function protobufCodec<W, T>(
  message: { decode(reader: BinaryReader): W },
  list: {
    decode(reader: BinaryReader): { readonly metadata: Wire.ListMeta | undefined; readonly items: readonly W[] };
  },
  fromWire: (wire: W) => T,
): ProtobufCodec<T> {
  return {
    decode: (reader) => fromWire(message.decode(reader)),
    decodeList: (reader) => {
      const { metadata, items } = list.decode(reader);
      const { resourceVersion = "", continue: token = "" } = metadata ?? {};
      return { items: items.map(fromWire), resourceVersion, continue: token };
    },
  };
}

/** "k8s\0": opens every protobuf body. apimachinery/pkg/runtime/serializer/protobuf/protobuf.go v0.36.3. */
const MAGIC = 0x6b387300;

export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
export const JSON_TYPE = "application/json";

export function isProtobuf(contentType: string | undefined): boolean {
  return contentType !== undefined && contentType.startsWith(PROTOBUF_TYPE);
}

/** Kind and reader of the message inside the envelope. */
export function openEnvelope(bytes: Uint8Array, cache: StringCache): { kind: string; reader: InterningReader } {
  const magic = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  if (magic !== MAGIC) throw new DecodeError(`protobuf body of ${bytes.length} bytes does not start with "k8s\\0"`);
  const unknown = Wire.Unknown.decode(new InterningReader(bytes.subarray(4), cache));
  return { kind: unknown.typeMeta?.kind ?? "", reader: new InterningReader(unknown.raw, cache) };
}

/** One frame of a protobuf watch: no envelope around the event, one around its object. */
export function openWatchFrame(frame: Uint8Array, cache: StringCache): { type: string; object: Uint8Array } {
  const { type, object } = Wire.WatchEvent.decode(new InterningReader(frame, cache));
  return { type, object: object?.raw ?? new Uint8Array() };
}

export function parseJson(bytes: Uint8Array): JsonRecord {
  let value: unknown;
  try {
    value = JSON.parse(textOf(bytes));
  } catch (error) {
    throw new DecodeError(`response of ${bytes.length} bytes is not JSON`, { cause: error });
  }
  return asRecord(value, "response");
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}

/** The Status of a failed response; any other text (a proxy's page) becomes the message. */
export function readStatus(bytes: Uint8Array, contentType: string | undefined, cache: StringCache): ApiStatus {
  try {
    return isProtobuf(contentType) ? statusFromEnvelope(bytes, cache) : statusFromJson(parseJson(bytes));
  } catch {
    return { message: textOf(bytes).slice(0, 200).trim(), reason: "", code: 0, retryAfterSeconds: 0, causes: [] };
  }
}

export function statusFromJson(status: JsonRecord): ApiStatus {
  return {
    message: stringField(status, "message"),
    reason: stringField(status, "reason"),
    code: numberField(status, "code"),
    retryAfterSeconds: numberField(recordField(status, "details"), "retryAfterSeconds"),
    causes: recordsField(recordField(status, "details"), "causes", (cause) => stringField(cause, "reason")),
  };
}

export function statusFromEnvelope(bytes: Uint8Array, cache: StringCache): ApiStatus {
  const { message, reason, code, details } = Wire.Status.decode(openEnvelope(bytes, cache).reader);
  const causes = details?.causes.map((cause) => cause.reason) ?? [];
  return { message, reason, code, retryAfterSeconds: details?.retryAfterSeconds ?? 0, causes };
}
