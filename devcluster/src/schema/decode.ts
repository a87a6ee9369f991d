import { type Json, type JsonObject, isJsonArray, isJsonObject } from "../json.ts";
import { canonicalQuantity } from "./quantity.ts";
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
  const fields = shape.fields();
  const owner = shape.name.slice(shape.name.lastIndexOf(".") + 1);
  const read = new Map<string, Json | undefined>();
  // In the order of the document, in which the real server reports what it does not know.
  for (const [key, value] of Object.entries(input ?? {})) {
    const path = place.path === "" ? key : `${place.path}.${key}`;
    const field = fields.get(key);
    if (field !== undefined) read.set(key, readField(field, value ?? null, { ...place, owner, path }));
    // managedFields is a known field that devcluster does not keep.
    else if (value !== undefined && key !== "managedFields") place.unknownFields.push(path);
  }
  const output: Record<string, Json> = {};
  for (const field of fields.values()) {
    const value = read.has(field.name) ? read.get(field.name) : readField(field, null, { ...place, owner });
    if (value !== undefined) output[field.name] = value;
  }
  return output;
}

function readField(field: Field, input: Json, place: Place): Json | undefined {
  const { spec, shape } = field;
  if (spec.pointer === true && input === null) return spec.omit === true ? undefined : null;
  const value = read(shape, input, place);
  if (spec.pointer === true || !isEmpty(shape, value)) return value;
  // The real server stores protobuf, which knows no difference between an empty list and none.
  return spec.omit === true ? undefined : isJsonArray(value) ? null : value;
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
      return readText(input, "string", place, (text) => canonicalTime(text) ?? notTime(text, timeLayout));
    case "MicroTime":
      return readText(input, "string", place, (text) => canonicalMicroTime(text) ?? notTime(text, microTimeLayout));
    case "bytes":
      return readText(input, "[]uint8", place, checkBase64);
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
  const text =
    typeof input === "string" || typeof input === "number" ? canonicalQuantity(`${input}`.trim()) : undefined;
  if (text !== undefined) return text;
  throw new DecodeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

function readText(input: Json, type: string, place: Place, canonical: (text: string) => string): Json {
  if (typeof input !== "string") throw mismatch(input, type, place);
  return canonical(input);
}

const timeLayout = "2006-01-02T15:04:05Z07:00";
const microTimeLayout = "2006-01-02T15:04:05.000000Z07:00";

function notTime(text: string, layout: string): never {
  throw new DecodeError(`parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse it`);
}

function checkBase64(text: string): string {
  if (Buffer.from(text, "base64").toString("base64") === text) return text;
  throw new DecodeError(`illegal base64 data at input byte ${Math.max(text.search(/[^A-Za-z0-9+/=]/), 0)}`);
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
