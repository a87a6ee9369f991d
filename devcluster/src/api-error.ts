import { type JsonObject, sameJson } from "./json.ts";
import { type FieldError, causeMessage, causeReason } from "./validation/field-error.ts";

/** Why a request failed, in the words of metav1.StatusReason; "" where the real server gives none. */
export type StatusReason =
  | ""
  | "AlreadyExists"
  | "BadRequest"
  | "Conflict"
  | "Expired"
  | "Forbidden"
  | "InternalError"
  | "Invalid"
  | "MethodNotAllowed"
  | "NotAcceptable"
  | "NotFound"
  | "Timeout"
  | "TooManyRequests"
  | "Unauthorized"
  | "UnsupportedMediaType";

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** Which resource an error is about. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A refusal that the client sees as a Status. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: StatusReason;
  readonly details: StatusDetails | undefined;
  readonly continueToken: string | undefined;

  constructor(failure: Failure) {
    super(failure.message);
    this.code = failure.code;
    this.reason = failure.reason;
    this.details = failure.details;
    this.continueToken = failure.continueToken;
  }
}

interface Failure {
  readonly code: number;
  readonly reason: StatusReason;
  readonly message: string;
  readonly details?: StatusDetails;
  /** Where an expired list may go on, without the consistency it had. */
  readonly continueToken?: string;
}

/** The Status that the error is sent as. */
export function statusOf(error: ApiError): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: error.continueToken === undefined ? {} : { continue: error.continueToken },
    status: "Failure",
    message: error.message,
    ...(error.reason === "" ? {} : { reason: error.reason }),
    ...(error.details === undefined ? {} : { details: detailsOf(error.details) }),
    code: error.code,
  };
}

function detailsOf(details: StatusDetails): JsonObject {
  const { causes, ...rest } = details;
  return causes === undefined ? { ...rest } : { ...rest, causes: causes.map((cause) => ({ ...cause })) };
}

/** `<resource>.<group>`, as messages name a resource. */
function qualified({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function about(resource: GroupResource, name: string): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    ...(resource.resource === "" ? {} : { kind: resource.resource }),
  };
}

export function notFound(resource: GroupResource, name: string): ApiError {
  const message = `${qualified(resource)} ${quote(name)} not found`;
  return new ApiError({ code: 404, reason: "NotFound", message, details: about(resource, name) });
}

export function alreadyExists(resource: GroupResource, name: string, beingDeleted: boolean): ApiError {
  const prefix = beingDeleted ? "object is being deleted: " : "";
  const message = `${prefix}${qualified(resource)} ${quote(name)} already exists`;
  return new ApiError({ code: 409, reason: "AlreadyExists", message, details: about(resource, name) });
}

/** What the real server says on a stale resourceVersion. */
export const staleObject =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(resource: GroupResource, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} ${quote(name)}: ${why}`;
  return new ApiError({ code: 409, reason: "Conflict", message, details: about(resource, name) });
}

export function forbidden(
  resource: GroupResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): ApiError {
  const subject = name === "" ? qualified(resource) : `${qualified(resource)} ${quote(name)}`;
  const details = { ...about(resource, name), ...(causes === undefined ? {} : { causes }) };
  return new ApiError({ code: 403, reason: "Forbidden", message: `${subject} is forbidden: ${why}`, details });
}

/** 422 with the causes, each once. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${causeMessage(error)}`))];
  const list = texts.length === 1 ? texts.join() : `[${texts.join(", ")}]`;
  const message = `${qualified({ group: kind.group, resource: kind.kind })} ${quote(name)} is invalid: ${list}`;
  const causes = errors.map((error) => ({
    reason: causeReason(error),
    message: causeMessage(error),
    field: error.field,
  }));
  const unique = causes.filter((cause, index) => causes.findIndex((other) => sameJson(other, cause)) === index);
  const details = { ...about({ group: kind.group, resource: kind.kind }, name), causes: unique };
  return new ApiError({ code: 422, reason: "Invalid", message, details });
}

export function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: "BadRequest", message });
}

/** A patch that cannot be applied to the object, as the real server words it. */
export function unprocessablePatch(): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return new ApiError({ code: 422, reason: "Invalid", message, details: {} });
}

export function expired(message: string, continueToken?: string): ApiError {
  return new ApiError({
    code: 410,
    reason: "Expired",
    message,
    ...(continueToken === undefined ? {} : { continueToken }),
  });
}

/** The client asks for a state that this server has not reached. */
export function tooLargeResourceVersion(asked: number, current: number): ApiError {
  return new ApiError({
    code: 504,
    reason: "Timeout",
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}

export function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

export function noSuchResource(): ApiError {
  const message = "the server could not find the requested resource";
  return new ApiError({ code: 404, reason: "NotFound", message, details: {} });
}

export function methodNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return new ApiError({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

export function notAcceptable(message: string, details?: StatusDetails): ApiError {
  return new ApiError({
    code: 406,
    reason: "NotAcceptable",
    message,
    ...(details === undefined ? {} : { details }),
  });
}

export function unsupportedMediaType(message: string, details?: StatusDetails): ApiError {
  return new ApiError({
    code: 415,
    reason: "UnsupportedMediaType",
    message,
    ...(details === undefined ? {} : { details }),
  });
}

/** What the real server answers when it never classified the failure: no reason, code 500. */
export function unclassified(message: string): ApiError {
  return new ApiError({ code: 500, reason: "", message });
}

/** Go's %q for the plain text that names and values are. */
function quote(text: string): string {
  return JSON.stringify(text);
}
