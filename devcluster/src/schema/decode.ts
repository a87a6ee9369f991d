import { type Json, type JsonObject, isJsonArray, isJsonObject } from "../json.ts";
import { formatQuantity, parseQuantity } from "./quantity.ts";
import type { Field, ScalarName, Shape } from "./schema.ts";
import { canonicalMicroTime, canonicalTime } from "./time.ts";

/** A value does not fit its type: the API server answers 400. */
export class DecodeError extends Error {
  readonly code = "DECODE";
}

export interface Decoded {
  readonly value: Json;
  /** Paths of fields that the type does not have; they were dropped. */
  readonly unknownFields: readonly string[];
}

/**
 * Brings a value into the form in which the real server would have written it after reading it into its Go type: unknown fields dropped,
 * empty fields left out or spelled out as the type says, quantities and times in canonical form. Idempotent.
 */
export function decode(shape: Shape, input: Json | undefined): Decoded {
  const unknownFields: string[] = [];
  const value = read(shape, input ?? null, { owner: "", path: "", unknownFields });
  return { value, unknownFields };
}

interface Place {
  /** Go name of the struct that holds the field, for messages. */
  readonly owner: string;
  readonly path: string;
  readonly unknownFields: string[];
}

function read(shape: Shape, input: Json, place: Place): Json {
  switch (shape.kind) {
    case "scalar":
      return input === null ? zero(shape) : readScalar(shape.name, input, place);
    case "list":
      return readList(shape.element, input, place);
    case "map":
      return readMap(shape.value, input, place);
    case "struct":
      return readStruct(shape, input, place);
    default:
      return shape satisfies never;
  }
}

function readList(element: Shape, input: Json, place: Place): Json {
  if (input === null) return null;
  if (!isJsonArray(input)) throw mismatch(input, "a list", place);
  return input.map((item, index) => read(element, item, { ...place, path: `${place.path}[${index}]` }));
}

function readMap(valueShape: Shape, input: Json, place: Place): Json {
  if (input === null) return null;
  if (!isJsonObject(input)) throw mismatch(input, "a map", place);
  const output: Record<string, Json> = {};
  // Go writes the keys of a map in order.
  for (const key of Object.keys(input).sort()) {
    const value = input[key];
    if (value !== undefined) output[key] = read(valueShape, value, { ...place, path: `${place.path}.${key}` });
  }
  return output;
}

function readStruct(shape: Extract<Shape, { kind: "struct" }>, input: Json, place: Place): JsonObject {
  if (input !== null && !isJsonObject(input)) throw mismatch(input, "an object", place);
  const source = input ?? {};
  const fields = shape.fields();
  const output: Record<string, Json> = {};
  const owner = shape.name.slice(shape.name.lastIndexOf(".") + 1);
  for (const field of fields.values()) {
    const path = place.path === "" ? field.name : `${place.path}.${field.name}`;
    const value = readField(field, source[field.name] ?? null, { owner, path, unknownFields: place.unknownFields });
    if (value !== undefined) output[field.name] = value;
  }
  for (const key of Object.keys(source)) {
    // managedFields is a known field that devcluster does not keep.
    if (fields.has(key) || key === "managedFields" || source[key] === undefined) continue;
    place.unknownFields.push(place.path === "" ? key : `${place.path}.${key}`);
  }
  return output;
}

function readField(field: Field, input: Json, place: Place): Json | undefined {
  const { spec, shape } = field;
  if (spec.pointer === true && input === null) return spec.omit === true ? undefined : null;
  const value = read(shape, input, place);
  return spec.omit === true && spec.pointer !== true && isEmpty(shape, value) ? undefined : value;
}

function isEmpty(shape: Shape, value: Json): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  if (isJsonArray(value)) return value.length === 0;
  return shape.kind === "map" && isJsonObject(value) && Object.keys(value).length === 0;
}

function zero(shape: Extract<Shape, { kind: "scalar" }>): Json {
  switch (shape.name) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "IntOrString":
      return 0;
    case "Quantity":
      return "0";
    case "Time":
    case "MicroTime":
    case "bytes":
    case "Raw":
      return null;
    default:
      return shape.name satisfies never;
  }
}

function readScalar(name: ScalarName, input: Json, place: Place): Json {
  switch (name) {
    case "string":
      return accept(typeof input === "string", input, name, place);
    case "bool":
      return accept(typeof input === "boolean", input, name, place);
    case "int32":
    case "int64":
      return accept(isInteger(input, name), input, name, place);
    case "IntOrString":
      return accept(typeof input === "string" || isInteger(input, "int32"), input, "int32", place);
    case "Quantity":
      return readQuantity(input);
    case "Time":
      return readText(input, "Time", place, canonicalTime);
    case "MicroTime":
      return readText(input, "MicroTime", place, canonicalMicroTime);
    case "bytes":
      return readText(input, "[]uint8", place, canonicalBase64);
    case "Raw":
      return input;
    default:
      return name satisfies never;
  }
}

function accept(fits: boolean, input: Json, type: string, place: Place): Json {
  if (fits) return input;
  throw mismatch(input, type, place);
}

function readQuantity(input: Json): Json {
  const quantity = typeof input === "string" || typeof input === "number" ? parseQuantity(`${input}`) : undefined;
  if (quantity !== undefined) return formatQuantity(quantity);
  throw new DecodeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

function readText(input: Json, type: string, place: Place, canonical: (text: string) => string | undefined): Json {
  const value = typeof input === "string" ? canonical(input) : undefined;
  if (value === undefined) throw mismatch(input, type, place);
  return value;
}

function canonicalBase64(text: string): string | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? text : undefined;
}

function isInteger(input: Json, name: "int32" | "int64"): boolean {
  if (typeof input !== "number" || !Number.isInteger(input)) return false;
  return name === "int64" || (input >= -(2 ** 31) && input < 2 ** 31);
}

function mismatch(input: Json, type: string, place: Place): DecodeError {
  const found = isJsonArray(input) ? "array" : isJsonObject(input) ? "object" : describeScalar(input);
  return new DecodeError(
    `json: cannot unmarshal ${found} into Go struct field ${place.owner}.${place.path} of type ${type}`,
  );
}

function describeScalar(input: Json): string {
  return typeof input === "boolean" ? "bool" : typeof input;
}
