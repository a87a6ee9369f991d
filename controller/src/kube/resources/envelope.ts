import { RawExtension, Status, Unknown, WatchEvent } from "../../../gen/cloudwire/kube/v1/kube.ts";
import { asRecord, DecodeError, type JsonRecord, numberField, recordField, stringField } from "../../util/json.ts";
import type { ApiStatus } from "../errors.ts";
import { InterningReader, type StringCache } from "../../util/string-cache.ts";

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
