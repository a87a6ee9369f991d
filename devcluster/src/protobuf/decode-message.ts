import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { Field, ScalarName, Shape } from "../schema/schema.ts";
import { formatTime } from "../schema/time.ts";
import { ProtobufError, type WireField, readFields } from "./wire.ts";

type Struct = Extract<Shape, { kind: "struct" }>;

/** Turns a message into the JSON that it stands for; fields that the type does not have are left out. Throws ProtobufError. */
export function decodeMessage(shape: Struct, message: Uint8Array): JsonObject {
  const output: Record<string, Json> = {};
  readInto(output, [...shape.fields().values()], readFields(message));
  return output;
}

function readInto(output: Record<string, Json>, fields: readonly Field[], wire: readonly WireField[]): void {
  const direct = new Map(
    fields.flatMap((field) => (field.spec.within === undefined ? [[field.spec.number, field] as const] : [])),
  );
  const inlined = Map.groupBy(
    fields.filter(({ spec }) => spec.within !== undefined),
    ({ spec }) => spec.within,
  );
  for (const part of wire) {
    const field = direct.get(part.number);
    const inner = inlined.get(part.number);
    if (field !== undefined) output[field.name] = readField(field, part, output[field.name]);
    else if (inner !== undefined) readInto(output, inner.map(unwrapped), readFields(bytesOf(part)));
  }
}

function unwrapped(field: Field): Field {
  const { within: _within, ...spec } = field.spec;
  return { ...field, spec };
}

function readField(field: Field, part: WireField, before: Json | undefined): Json {
  const { shape } = field;
  switch (shape.kind) {
    case "list": {
      const list = isJsonArray(before) ? before : [];
      return [...list, readValue(shape.element, part)];
    }
    case "map": {
      const entry = readFields(bytesOf(part));
      const key = entry.find(({ number }) => number === 1);
      const value = entry.find(({ number }) => number === 2);
      const known = isJsonObject(before) ? before : {};
      const name = key === undefined ? "" : textOf(key);
      return { ...known, [name]: value === undefined ? null : readValue(shape.value, value) };
    }
    case "struct":
    case "scalar":
      return readValue(shape, part);
    default:
      return shape satisfies never;
  }
}

function readValue(shape: Shape, part: WireField): Json {
  if (shape.kind === "struct") return decodeMessage(shape, bytesOf(part));
  if (shape.kind === "scalar") return readScalar(shape.name, part);
  if (shape.kind === "list") {
    // A list inside a map is a message with the elements under number 1.
    return readFields(bytesOf(part)).map((element) => readValue(shape.element, element));
  }
  throw new ProtobufError("a map inside a list or map");
}

function readScalar(name: ScalarName, part: WireField): Json {
  switch (name) {
    case "string":
      return textOf(part);
    case "bool":
      return numberOf(part) !== 0;
    case "int32":
    case "int64":
      return numberOf(part);
    case "Time":
      return readTime(bytesOf(part), false);
    case "MicroTime":
      return readTime(bytesOf(part), true);
    case "Quantity":
      return readFields(bytesOf(part)).map(textOf)[0] ?? "0";
    case "IntOrString":
      return readIntOrString(bytesOf(part));
    case "bytes":
      return Buffer.from(bytesOf(part)).toString("base64");
    case "Raw":
      return null;
    default:
      return name satisfies never;
  }
}

function readTime(message: Uint8Array, withMicros: boolean): Json {
  const parts = readFields(message);
  const valueOf = (number: number): number => {
    const part = parts.find((candidate) => candidate.number === number);
    return part === undefined ? 0 : numberOf(part);
  };
  // The zero time is an empty message.
  if (parts.length === 0) return null;
  const text = formatTime(valueOf(1) * 1000);
  if (!withMicros) return text;
  return `${text.slice(0, -1)}.${`${Math.floor(valueOf(2) / 1000)}`.padStart(6, "0")}Z`;
}

function readIntOrString(message: Uint8Array): Json {
  const parts = new Map(readFields(message).map((part) => [part.number, part] as const));
  const type = parts.get(1);
  const number = parts.get(2);
  const text = parts.get(3);
  if (type !== undefined && numberOf(type) === 1) return text === undefined ? "" : textOf(text);
  return number === undefined ? 0 : numberOf(number);
}

function textOf(part: WireField): string {
  return Buffer.from(bytesOf(part)).toString();
}

function bytesOf(part: WireField): Uint8Array {
  if (part.kind === "bytes") return part.value;
  throw new ProtobufError(`field ${part.number} is a number where bytes are expected`);
}

function numberOf(part: WireField): number {
  if (part.kind === "varint") return Number(BigInt.asIntN(64, part.value));
  throw new ProtobufError(`field ${part.number} is bytes where a number is expected`);
}
