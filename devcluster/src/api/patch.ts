import { badRequest, invalid, notFound } from "../api-error.ts";
import { type Json, type JsonObject, isJsonObject } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { applyJsonPatch } from "../patch/json-patch.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { type Resource, type Subresource, groupResourceOf, tableOf } from "../resources/resource.ts";
import { DecodeError } from "../schema/decode.ts";
import { invalidValue } from "../validation/field-error.ts";
import { type DecodedObject, encodeObject, kindProblem, toStored } from "./codec.ts";
import { type Deps, type Target, type WriteOptions, keyOf } from "./context.ts";
import { inNamespace } from "./create.ts";
import { checkName, updateObject } from "./update.ts";

/** Patch formats by content type. */
export const patchTypes = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
} as const;

export type PatchKind = (typeof patchTypes)[keyof typeof patchTypes];

/** PATCH: applies the patch to the object as the client sees it and stores the result. */
export function patchObject(
  deps: Deps,
  resource: Resource,
  subresource: Subresource<KubeObject> | undefined,
  target: Target,
  patch: { readonly kind: PatchKind; readonly text: string },
  options: WriteOptions,
): KubeObject {
  const content = parsePatch(patch.text);
  const old = deps.store.get(tableOf(resource), keyOf(target));
  if (old === undefined) throw notFound(groupResourceOf(resource), target.name);
  const document = encodeObject(deps.schema, resource, old);
  const patched = apply(deps, resource, document, patch.kind, content);
  const { object, unknownFields } = decodePatched(deps, resource, patch.kind, patched);
  reportUnknown(unknownFields, options);
  const placed = inNamespace(object, target.namespace, resource);
  checkName(placed, target.name);
  return updateObject(deps, resource, subresource, target, { object: placed, old }, options);
}

function parsePatch(text: string): Json {
  try {
    const patch: Json = JSON.parse(text);
    return patch;
  } catch {
    throw badRequest("invalid JSON patch");
  }
}

function apply(deps: Deps, resource: Resource, document: JsonObject, kind: PatchKind, patch: Json): Json {
  switch (kind) {
    case "json":
      return applyJsonPatch(document, patch);
    case "merge":
      if (!isJsonObject(patch)) {
        throw badRequest(
          "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        );
      }
      return applyMergePatch(document, patch);
    case "strategic":
      return applyStrategicMergePatch(deps.schema.shape(resource.type), document, patch);
    default:
      return kind satisfies never;
  }
}

function decodePatched(deps: Deps, resource: Resource, kind: PatchKind, patched: Json): DecodedObject {
  if (!isJsonObject(patched)) throw unusable("the patch leaves no object");
  // A strategic merge patch is applied to the Go type, which has no say about its kind.
  const problem = kind === "strategic" ? undefined : kindProblem(resource, patched);
  if (problem !== undefined) throw unusable(problem);
  try {
    return toStored(deps.schema, resource, patched);
  } catch (error) {
    // What a patch makes of the object is the client's mistake in a field "patch", not a malformed body.
    if (error instanceof DecodeError) throw unusable(error.message);
    throw error;
  }
}

function reportUnknown(fields: readonly string[], options: WriteOptions): void {
  const complaints = fields.map((field) => `unknown field "${field}"`);
  if (options.fieldValidation === "Warn") complaints.forEach(options.warn);
  if (options.fieldValidation !== "Strict" || complaints.length === 0) return;
  throw unusable(`strict decoding error: ${complaints.join(", ")}`);
}

function unusable(why: string): Error {
  return invalid({ group: "", kind: "" }, "", [invalidValue("patch", "", why)]);
}
