import { badRequest } from "../api-error.ts";
import type { Resource } from "../resources/resource.ts";
import type { WriteOptions } from "./context.ts";

/** Warns of dropped fields, or refuses them, as the request asked; throws ApiError 400. */
export function reportUnknownFields(fields: readonly string[], resource: Resource, options: WriteOptions): void {
  if (fields.length === 0 || options.fieldValidation === "Ignore") return;
  const complaints = fields.map((field) => `unknown field "${field}"`);
  if (options.fieldValidation === "Warn") {
    for (const complaint of complaints) options.warn(complaint);
    return;
  }
  const { kind, version } = resource;
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${complaints.join(", ")}`,
  );
}
