import { badRequest, invalid } from "../api-error.ts";
import type { DeleteOptions } from "../api/delete.ts";
import { checkDryRun, parseInteger } from "../api/query.ts";
import { type Json, isJsonArray, isJsonObject, valueAt } from "../json.ts";
import { DecodeError, decode } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import type { ApiRequest } from "./request.ts";

/** Reads how to delete, from the body or, without one, from the query; throws ApiError. */
export function parseDeleteOptions(schema: Schema, request: ApiRequest): DeleteOptions {
  const errors = checkDryRun(request.query);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  const dryRun = request.query.has("dryRun");
  return request.body === "" ? fromQuery(request.query, dryRun) : fromBody(schema, request.body, dryRun);
}

function fromQuery(query: URLSearchParams, dryRun: boolean): DeleteOptions {
  const orphan = query.get("orphanDependents");
  return {
    dryRun,
    gracePeriodSeconds: parseInteger(query.get("gracePeriodSeconds")),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    orphanDependents: orphan === null ? undefined : orphan === "true",
  };
}

function fromBody(schema: Schema, text: string, dryRun: boolean): DeleteOptions {
  const body = read(schema, text);
  const grace = valueAt(body, "gracePeriodSeconds");
  const policy = valueAt(body, "propagationPolicy");
  const orphan = valueAt(body, "orphanDependents");
  const listed = valueAt(body, "dryRun");
  return {
    dryRun: dryRun || (isJsonArray(listed) && listed.includes("All")),
    gracePeriodSeconds: typeof grace === "number" ? grace : undefined,
    propagationPolicy: typeof policy === "string" ? policy : undefined,
    orphanDependents: typeof orphan === "boolean" ? orphan : undefined,
    uid: textAt(body, "uid"),
    resourceVersion: textAt(body, "resourceVersion"),
  };
}

function textAt(body: Json, field: string): string | undefined {
  const value = valueAt(body, "preconditions", field);
  return typeof value === "string" ? value : undefined;
}

function read(schema: Schema, text: string): Json {
  try {
    const body: Json = JSON.parse(text);
    const kind = isJsonObject(body) ? (body["kind"] ?? "DeleteOptions") : "";
    if (kind !== "DeleteOptions") throw badRequest(`no kind ${JSON.stringify(kind)} is registered for DeleteOptions`);
    return decode(schema.shape("meta.v1.DeleteOptions"), body).value;
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}
