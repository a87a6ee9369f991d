import { type Json, type JsonObject, isJsonArray, isJsonObject } from "../json.ts";
import type { Field, ScalarName, Shape } from "../schema/schema.ts";
import { MessageWriter } from "./wire.ts";

type Struct = Extract<Shape, { kind: "struct" }>;

/** Turns an object in canonical JSON into a message. */
export function encodeMessage(shape: Struct, object: JsonObject): Uint8Array {
  const writer = new MessageWriter();
  const inlined = new Map<number, MessageWriter>();
  for (const field of shape.fields().values()) {
    const value = object[field.name];
    const { number, within } = field.spec;
    if (value === undefined || value === null || number === undefined) continue;
    if (within === undefined) {
      writeField(writer, field, number, value);
      continue;
    }
    const inner = inlined.get(within) ?? new MessageWriter();
    inlined.set(within, inner);
    writeField(inner, field, number, value);
  }
  for (const [number, inner] of inlined) writer.bytes(number, inner.finish());
  return writer.finish();
}

function writeField(writer: MessageWriter, { shape }: Field, number: number, value: Json): void {
  switch (shape.kind) {
    case "list":
      for (const element of isJsonArray(value) ? value : []) writeValue(writer, shape.element, number, element);
      return;
    case "map":
      for (const [key, inner] of Object.entries(isJsonObject(value) ? value : {})) {
        const entry = new MessageWriter();
        entry.text(1, key);
        writeValue(entry, shape.value, 2, inner ?? null);
        writer.bytes(number, entry.finish());
      }
      return;
    case "struct":
    case "scalar":
      writeValue(writer, shape, number, value);
      return;
    default:
      shape satisfies never;
  }
}

function writeValue(writer: MessageWriter, shape: Shape, number: number, value: Json): void {
  if (shape.kind === "struct") writer.bytes(number, encodeMessage(shape, isJsonObject(value) ? value : {}));
  else if (shape.kind === "scalar") writeScalar(writer, shape.name, number, value);
  else if (shape.kind === "list") {
    // A list inside a map is a message with the elements under number 1.
    const inner = new MessageWriter();
    for (const element of isJsonArray(value) ? value : []) writeValue(inner, shape.element, 1, element);
    writer.bytes(number, inner.finish());
  }
}

function writeScalar(writer: MessageWriter, name: ScalarName, number: number, value: Json): void {
  switch (name) {
    case "string":
      writer.text(number, typeof value === "string" ? value : "");
      return;
    case "bool":
      writer.varint(number, value === true ? 1n : 0n);
      return;
    case "int32":
    case "int64":
      writer.varint(number, integer(value));
      return;
    case "Time":
    case "MicroTime":
      writer.bytes(number, encodeTime(value));
      return;
    case "Quantity": {
      const message = new MessageWriter();
      message.text(1, typeof value === "string" ? value : "0");
      writer.bytes(number, message.finish());
      return;
    }
    case "IntOrString":
      writer.bytes(number, encodeIntOrString(value));
      return;
    case "bytes":
      writer.bytes(number, Buffer.from(typeof value === "string" ? value : "", "base64"));
      return;
    case "Raw":
      return;
    default:
      name satisfies never;
  }
}

function encodeTime(value: Json): Uint8Array {
  const message = new MessageWriter();
  if (typeof value !== "string") return message.finish();
  const micros = Number(/\.(\d{6})Z$/.exec(value)?.[1] ?? "0");
  message.varint(1, BigInt(Math.floor(Date.parse(value) / 1000)));
  message.varint(2, BigInt(micros * 1000));
  return message.finish();
}

function encodeIntOrString(value: Json): Uint8Array {
  const message = new MessageWriter();
  message.varint(1, typeof value === "string" ? 1n : 0n);
  message.varint(2, integer(value));
  message.text(3, typeof value === "string" ? value : "");
  return message.finish();
}

function integer(value: Json): bigint {
  return typeof value === "number" ? BigInt(Math.trunc(value)) : 0n;
}
