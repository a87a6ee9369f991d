import { badRequest, unprocessablePatch } from "../api-error.ts";
import { type Json, type JsonObject, isJsonArray, isJsonObject, sameJson } from "../json.ts";

/** RFC 6902: applies every operation in order; throws ApiError 422 when one cannot be, so that nothing changes. */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (!isJsonArray(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  }
  return patch.reduce<Json>((current, operation) => applyOperation(current, operation), document);
}

function applyOperation(document: Json, operation: Json): Json {
  if (!isJsonObject(operation)) throw unprocessablePatch();
  const path = pointer(operation["path"]);
  switch (operation["op"]) {
    case "add":
      return insert(document, path, valueOf(operation));
    case "remove":
      return remove(document, path);
    case "replace":
      return path.length === 0 ? valueOf(operation) : replace(document, path, valueOf(operation));
    case "move": {
      const from = pointer(operation["from"]);
      const value = find(document, from);
      return insert(remove(document, from), path, value);
    }
    case "copy":
      // A missing source is copied as null, as the library of the real server does.
      return insert(document, path, lookUp(document, pointer(operation["from"])) ?? null);
    case "test":
      if (!sameJson(lookUp(document, path) ?? null, operation["value"] ?? null)) throw unprocessablePatch();
      return document;
    default:
      throw unprocessablePatch();
  }
}

function valueOf(operation: JsonObject): Json {
  return operation["value"] ?? null;
}

function pointer(value: Json | undefined): readonly string[] {
  if (typeof value !== "string") throw unprocessablePatch();
  if (value === "") return [];
  if (!value.startsWith("/")) throw unprocessablePatch();
  return value
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function lookUp(document: Json, path: readonly string[]): Json | undefined {
  let current: Json | undefined = document;
  for (const step of path) {
    if (isJsonArray(current)) current = current[indexIn(current, step, current.length - 1)];
    else if (isJsonObject(current)) current = current[step];
    else throw unprocessablePatch();
  }
  return current;
}

function find(document: Json, path: readonly string[]): Json {
  const value = lookUp(document, path);
  if (value === undefined) throw unprocessablePatch();
  return value;
}

/** Rebuilds the document with its innermost container changed. */
function change(document: Json, path: readonly string[], edit: (container: Json, key: string) => Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) throw unprocessablePatch();
  if (rest.length === 0) return edit(document, step);
  const inner = change(find(document, [step]), rest, edit);
  if (isJsonArray(document)) return document.with(indexIn(document, step, document.length - 1), inner);
  return isJsonObject(document) ? { ...document, [step]: inner } : document;
}

function insert(document: Json, path: readonly string[], value: Json): Json {
  if (path.length === 0) return value;
  return change(document, path, (container, key) => {
    if (isJsonArray(container)) {
      const index = key === "-" ? container.length : indexIn(container, key, container.length);
      return container.toSpliced(index, 0, value);
    }
    if (!isJsonObject(container)) throw unprocessablePatch();
    return { ...container, [key]: value };
  });
}

function replace(document: Json, path: readonly string[], value: Json): Json {
  return change(document, path, (container, key) => {
    if (isJsonArray(container)) return container.with(indexIn(container, key, container.length - 1), value);
    if (!isJsonObject(container)) throw unprocessablePatch();
    return { ...container, [key]: value };
  });
}

function remove(document: Json, path: readonly string[]): Json {
  return change(document, path, (container, key) => {
    if (isJsonArray(container)) return container.toSpliced(indexIn(container, key, container.length - 1), 1);
    if (!isJsonObject(container) || container[key] === undefined) throw unprocessablePatch();
    const { [key]: _removed, ...rest } = container;
    return rest;
  });
}

/** A step into an array; a negative index counts from the end, as the library of the real server allows. */
function indexIn(container: readonly Json[], step: string, highest: number): number {
  if (!/^-?\d+$/.test(step)) throw unprocessablePatch();
  const index = Number(step) < 0 ? Number(step) + container.length : Number(step);
  if (index < 0 || index > highest) throw unprocessablePatch();
  return index;
}
