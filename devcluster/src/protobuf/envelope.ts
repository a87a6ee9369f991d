import { MessageWriter, ProtobufError, readFields } from "./wire.ts";

/** Every protobuf document of Kubernetes starts with this (k8s.io/apimachinery/pkg/runtime/serializer/protobuf). */
const magic = Buffer.from("k8s\0");

/** A message with the kind that it is of (runtime.Unknown). */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly message: Uint8Array;
}

export function wrap({ apiVersion, kind, message }: Envelope): Uint8Array {
  const type = new MessageWriter();
  type.text(1, apiVersion);
  type.text(2, kind);
  const unknown = new MessageWriter();
  unknown.bytes(1, type.finish());
  unknown.bytes(2, message);
  unknown.text(3, "");
  unknown.text(4, "");
  return Buffer.concat([magic, unknown.finish()]);
}

/** Takes a document apart; throws ProtobufError when it is none. */
export function unwrap(document: Uint8Array): Envelope {
  if (!magic.equals(document.subarray(0, magic.length))) {
    throw new ProtobufError("the document does not start with the prefix of Kubernetes protobuf");
  }
  const parts = new Map(
    readFields(document.subarray(magic.length)).map(
      (part) => [part.number, part.kind === "bytes" ? part.value : undefined] as const,
    ),
  );
  const type = new Map(
    readFields(parts.get(1) ?? new Uint8Array()).map(
      (part) => [part.number, part.kind === "bytes" ? Buffer.from(part.value).toString() : ""] as const,
    ),
  );
  return { apiVersion: type.get(1) ?? "", kind: type.get(2) ?? "", message: parts.get(2) ?? new Uint8Array() };
}

/** One event of a watch: a length of four bytes, then metav1.WatchEvent. */
export function watchFrame(type: string, document: Uint8Array): Uint8Array {
  const raw = new MessageWriter();
  raw.bytes(1, document);
  const event = new MessageWriter();
  event.text(1, type);
  event.bytes(2, raw.finish());
  const message = event.finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}
