import { methodNotAllowed, noSuchResource, unsupportedMediaType } from "../api-error.ts";
import { parseBody } from "../api/codec.ts";
import { type Target, type WriteOptions, keyOf } from "../api/context.ts";
import { createObject } from "../api/create.ts";
import { deleteObject, deletedStatus } from "../api/delete.ts";
import { getObject, listObjects } from "../api/list.ts";
import { patchObject, patchTypes } from "../api/patch.ts";
import { parseListOptions, parseWriteQuery } from "../api/query.ts";
import { replaceObject } from "../api/update.ts";
import type { KubeObject } from "../object.ts";
import { type Resource, type Subresource, type UserName, tableOf } from "../resources/resource.ts";
import { parseDeleteOptions } from "./delete-options.ts";
import type { HandlerDeps } from "./deps.ts";
import { negotiate } from "./negotiate.ts";
import type { Reply } from "./reply.ts";
import { type IncludeObject, type Renderer, createRenderer } from "./representation.ts";
import { type ApiRequest, contentTypeOf, headerOf } from "./request.ts";
import type { RequestInfo } from "./request-info.ts";
import { verbOf } from "./verb.ts";
import { watchReply } from "./watch-reply.ts";

type Info = Extract<RequestInfo, { kind: "resource" }>;

/** A request for a resource. */
export interface ResourceCall {
  readonly resource: Resource;
  readonly info: Info;
  readonly request: ApiRequest;
  readonly user: UserName;
  /** Collects warnings for the client. */
  readonly warn: (message: string) => void;
}

/** What the handlers of one request share. */
interface Call extends ResourceCall {
  readonly deps: HandlerDeps;
  readonly subresource: Subresource<KubeObject> | undefined;
  readonly target: Target;
  readonly renderer: Renderer;
}

/** Answers a request for objects of one resource. */
export function handleResource(deps: HandlerDeps, resourceCall: ResourceCall): Reply {
  const { resource, info, request } = resourceCall;
  const subresource = resource.subresources.find(({ name }) => name === info.subresource);
  if (info.subresource !== "" && subresource === undefined) throw noSuchResource();
  // Such a path does not exist on the real server, rather than lacking the method.
  if (resource.namespaced && info.name !== "" && info.namespace === "" && !info.watch) throw noSuchResource();
  const verb = verbOf(request, info);
  if (!isOffered(verb, resource, subresource, info)) throw methodNotAllowed();
  const representation = negotiate(headerOf(request, "accept"));
  const renderer = createRenderer({
    schema: deps.schema,
    resource,
    representation,
    includeObject: includeObjectOf(request),
    nowMs: deps.nowMs,
    cache: deps.jsonCache,
  });
  const target = { namespace: info.namespace, name: info.name };
  return answer(verb, { ...resourceCall, deps, subresource, target, renderer });
}

function answer(verb: string, call: Call): Reply {
  switch (verb) {
    case "get":
      return get(call);
    case "list":
    case "watch":
      return list(call);
    case "create":
      return create(call);
    case "update":
      return update(call);
    case "patch":
      return patch(call);
    case "delete":
      return remove(call);
    case "deletecollection":
      return removeAll(call);
    default:
      throw methodNotAllowed();
  }
}

function isOffered(
  verb: string,
  resource: Resource,
  subresource: Subresource<KubeObject> | undefined,
  info: Info,
): boolean {
  if (subresource !== undefined) return subresource.verbs.some((offered) => offered === verb);
  const single = info.name !== "";
  const scoped = !resource.namespaced || info.namespace !== "";
  switch (verb) {
    case "get":
    case "update":
    case "patch":
    case "delete":
      return single && scoped;
    case "create":
      return !single && scoped;
    case "deletecollection":
      return scoped && resource.deleteCollection !== false;
    case "list":
    case "watch":
      return true;
    default:
      return false;
  }
}

function get({ deps, resource, target, request, renderer }: Call): Reply {
  const object = getObject(deps.store, resource, target, request.query.get("resourceVersion") ?? "");
  return { kind: "json", status: 200, body: renderer.object(object) };
}

function list({ deps, resource, target, info, request, renderer }: Call): Reply {
  const query = new URLSearchParams(request.query);
  // The old watch path may name one object.
  if (target.name !== "") query.set("fieldSelector", `metadata.name=${target.name}`);
  const options = parseListOptions(query, info.watch);
  if (options.watch) return watchReply(deps, resource, { namespace: target.namespace, options, renderer });
  return {
    kind: "json",
    status: 200,
    body: renderer.list(listObjects(deps.store, resource, target.namespace, options)),
  };
}

function create(call: Call): Reply {
  const { deps, resource, target, request, renderer } = call;
  requireJson(request);
  const options = writeOptions(call, "CreateOptions");
  const body = parseBody(request.body, resource.kind);
  const object = createObject(deps, resource, target.namespace, body, options);
  return { kind: "json", status: 201, body: renderer.object(object) };
}

function update(call: Call): Reply {
  const { deps, resource, subresource, target, request, renderer } = call;
  requireJson(request);
  const options = writeOptions(call, "UpdateOptions");
  const body = parseBody(request.body, resource.kind);
  const { object, created } = replaceObject(deps, resource, subresource, target, body, options);
  return { kind: "json", status: created ? 201 : 200, body: renderer.object(object) };
}

function patch(call: Call): Reply {
  const { deps, resource, subresource, target, request, renderer } = call;
  const contentType = contentTypeOf(request);
  const kind = Object.entries(patchTypes).find(([type]) => type === contentType)?.[1];
  if (kind === undefined) throw unsupportedMediaType("415: Unsupported Media Type", {});
  const options = writeOptions(call, "PatchOptions");
  const object = patchObject(deps, resource, subresource, target, { kind, text: request.body }, options);
  return { kind: "json", status: 200, body: renderer.object(object) };
}

function remove(call: Call): Reply {
  const { deps, resource, target, request, renderer } = call;
  const deleted = deleteObject(deps, resource, target, parseDeleteOptions(deps.schema, request));
  const shows = deleted.kind === "pending" || resource.strategy.returnsDeleted === true;
  const body = shows ? renderer.object(deleted.object) : JSON.stringify(deletedStatus(resource, deleted.object));
  return { kind: "json", status: 200, body };
}

function removeAll(call: Call): Reply {
  const { deps, resource, target, request, renderer } = call;
  const options = parseDeleteOptions(deps.schema, request);
  const page = listObjects(deps.store, resource, target.namespace, parseListOptions(request.query, false));
  for (const object of page.objects) {
    const { namespace = "", name = "" } = object.metadata;
    const found = deps.store.get(tableOf(resource), keyOf({ namespace, name })) !== undefined;
    if (found) deleteObject(deps, resource, { namespace, name }, options);
  }
  return { kind: "json", status: 200, body: renderer.list(page) };
}

function writeOptions({ request, user, warn }: Call, kind: string): WriteOptions {
  return { ...parseWriteQuery(request.query, kind), user, warn };
}

function requireJson(request: ApiRequest): void {
  const contentType = contentTypeOf(request);
  if (contentType === "" || contentType === "application/json") return;
  throw unsupportedMediaType(
    "the body of the request was in an unknown format - accepted media types include: application/json",
  );
}

function includeObjectOf(request: ApiRequest): IncludeObject {
  const asked = request.query.get("includeObject");
  return asked === "None" || asked === "Object" ? asked : "Metadata";
}
