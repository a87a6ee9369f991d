import type { Attributes } from "../access/access.ts";
import { denied } from "../access/access.ts";
import { ApiError, noSuchResource, statusOf } from "../api-error.ts";
import type { HandlerDeps } from "./deps.ts";
import { handleMetaPath } from "./meta-paths.ts";
import { answerInFormat } from "./protobuf-edge.ts";
import type { Reply } from "./reply.ts";
import { type ApiRequest, headerOf } from "./request.ts";
import { type RequestInfo, parseRequestPath } from "./request-info.ts";
import { handleResource } from "./resource-handler.ts";
import { handleReview } from "./review-handler.ts";
import { verbOf } from "./verb.ts";

/** Answers one request in the format that the client likes best; every refusal becomes a Status. */
export function handle(deps: HandlerDeps, request: ApiRequest): Reply {
  return answerInFormat(deps.translator, request, (inner) => handleJson(deps, inner));
}

function handleJson(deps: HandlerDeps, request: ApiRequest): Reply {
  const warnings: string[] = [];
  const warn = (message: string): void => {
    warnings.push(message);
  };
  try {
    const reply = route(deps, request, warn);
    return reply.kind === "json" ? { ...reply, warnings } : reply;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: "json", status: error.code, body: JSON.stringify(statusOf(error)), warnings };
  }
}

function route(deps: HandlerDeps, request: ApiRequest, warn: (message: string) => void): Reply {
  const user = deps.access.authenticate(headerOf(request, "authorization"));
  const info = parseRequestPath(request.path);
  const attributes = attributesOf(request, info);
  if (!deps.access.allows(user, attributes)) throw denied(user, attributes);
  if (info.kind === "other") return handleMetaPath(deps, request);
  const review = deps.reviews.find((candidate) => isAbout(candidate, info));
  if (review !== undefined) return handleReview(deps, review, info, request, user);
  const resource = deps.resources.find((candidate) => isAbout(candidate, info));
  if (resource !== undefined) return handleResource(deps, { resource, info, request, user, warn });
  const served = [...deps.resources, ...deps.reviews];
  if (served.some(({ group }) => group === info.group)) throw noSuchResource();
  return { kind: "text", status: 404, body: "404 page not found\n" };
}

function isAbout(
  candidate: { readonly group: string; readonly version: string; readonly name: string },
  info: Extract<RequestInfo, { kind: "resource" }>,
): boolean {
  return candidate.group === info.group && candidate.version === info.version && candidate.name === info.resource;
}

function attributesOf(request: ApiRequest, info: RequestInfo): Attributes {
  if (info.kind === "other") return { kind: "path", verb: request.method.toLowerCase(), path: request.path };
  const { group, resource, subresource, name } = info;
  // A namespace counts as inside itself.
  const namespace = group === "" && resource === "namespaces" ? name : info.namespace;
  return { kind: "resource", verb: verbOf(request, info), group, resource, subresource, namespace, name };
}
