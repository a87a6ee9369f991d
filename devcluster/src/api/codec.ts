import { badRequest } from "../api-error.ts";
import { type Json, type JsonObject, isJsonObject, stringAt } from "../json.ts";
import { type KubeObject, isKubeObject } from "../object.ts";
import { type Resource, apiVersionOf } from "../resources/resource.ts";
import { DecodeError, decode } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";

export interface DecodedObject {
  readonly object: KubeObject;
  /** Fields that the kind does not have; they were dropped. */
  readonly unknownFields: readonly string[];
}

/** Reads the JSON text of a request body; throws ApiError 400. */
export function parseBody(text: string, kind: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw unrecognized(kind, why, text);
  }
}

function unrecognized(kind: string, why: string, text: string): Error {
  const message = `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why}`;
  return badRequest(`${message} (${Buffer.from(text).toString("hex") || "<empty>"})`);
}

function parseJson(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}

/** Turns a body into an object of the resource in the form in which it is stored, with defaults; throws ApiError 400. */
export function decodeObject(schema: Schema, resource: Resource, body: Json): DecodedObject {
  if (!isJsonObject(body)) throw unrecognized(resource.kind, "json: cannot unmarshal the document into an object", "");
  const problem = kindProblem(resource, body);
  if (problem !== undefined) {
    const kind = stringAt(body, "kind");
    const version = stringAt(body, "apiVersion").split("/").at(-1) ?? "";
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${resource.kind}: ${problem}`);
  }
  try {
    return toStored(schema, resource, body);
  } catch (error) {
    if (error instanceof DecodeError) throw mistyped(resource, error.message);
    throw error;
  }
}

/** As decodeObject, for JSON that is known to be of the kind; throws DecodeError when a field has the wrong type. */
export function toStored(schema: Schema, resource: Resource, body: JsonObject): DecodedObject {
  const { value, unknownFields } = decode(schema.shape(resource.type), { ...body, kind: "", apiVersion: "" });
  const stored =
    resource.view === undefined || !isJsonObject(value)
      ? value
      : decode(schema.shape(resource.view.storedType), resource.view.toStored(value)).value;
  return { object: withDefaults(schema, resource, stored), unknownFields };
}

/** Drops what hooks emptied, so that equal objects have equal JSON. */
export function canonical(schema: Schema, resource: Resource, object: KubeObject): KubeObject {
  const { value } = decode(schema.shape(resource.view?.storedType ?? resource.type), object);
  return asObject(value);
}

/** The object as the resource's version shows it, without kind and apiVersion. */
export function fromStored(schema: Schema, resource: Resource, object: KubeObject): JsonObject {
  if (resource.view === undefined) return object;
  const { value } = decode(schema.shape(resource.type), resource.view.fromStored(object));
  return isJsonObject(value) ? value : {};
}

/** The object as clients get it. */
export function encodeObject(schema: Schema, resource: Resource, object: KubeObject): JsonObject {
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    ...fromStored(schema, resource, object),
  };
}

function withDefaults(schema: Schema, resource: Resource, value: Json): KubeObject {
  const object = asObject(value);
  const complete = resource.strategy.applyDefaults?.(object);
  return complete === undefined ? object : canonical(schema, resource, complete);
}

function asObject(value: Json): KubeObject {
  if (isKubeObject(value)) return value;
  throw new Error("a decoded object has no metadata: its type table entry lacks the field");
}

/** Why an object that names another kind or version cannot be taken, undefined when it can. */
export function kindProblem(resource: Resource, body: JsonObject): string | undefined {
  const kind = stringAt(body, "kind") || resource.kind;
  const apiVersion = stringAt(body, "apiVersion") || apiVersionOf(resource);
  if (kind === resource.kind && apiVersion === apiVersionOf(resource)) return undefined;
  const version = apiVersion.split("/").at(-1) ?? "";
  if (kind === resource.kind) {
    return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  }
  const [group = "", , name = ""] = (resource.view?.storedType ?? resource.type).split(".");
  return `converting (${version}.${kind}) to (${group}.${name}): unknown conversion`;
}

function mistyped(resource: Resource, why: string): Error {
  return badRequest(
    `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${why}`,
  );
}
