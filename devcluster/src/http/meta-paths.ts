import {
  aggregated,
  coreVersions,
  type DiscoveredResource,
  groupInfo,
  groupList,
  resourceList,
  versionInfo,
} from "../discovery/discovery.ts";
import { type DescribedResource, openApiDocument, openApiIndex } from "../discovery/open-api.ts";
import { noSuchResource } from "../api-error.ts";
import type { JsonObject } from "../json.ts";
import type { HandlerDeps } from "./deps.ts";
import { wantsAggregatedDiscovery } from "./negotiate.ts";
import type { Reply } from "./reply.ts";
import { type ApiRequest, headerOf } from "./request.ts";

const aggregatedParameters = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const healthPaths = ["/healthz", "/livez", "/readyz"];

/** Paths that are not about objects: discovery, health, version, OpenAPI. */
export function handleMetaPath(deps: HandlerDeps, request: ApiRequest): Reply {
  if (healthPaths.includes(request.path)) return { kind: "text", status: 200, body: "ok" };
  const document = find(deps, request);
  if (document === undefined) {
    if (isVersionPath(deps, request.path)) throw noSuchResource();
    return { kind: "text", status: 404, body: "404 page not found\n" };
  }
  const body = JSON.stringify(document);
  return document["kind"] === "APIGroupDiscoveryList"
    ? { kind: "json", status: 200, body, mediaParameters: aggregatedParameters }
    : { kind: "json", status: 200, body };
}

/** Whether the path asks for a version of a group that there is. */
function isVersionPath(deps: HandlerDeps, path: string): boolean {
  const [root = "", group = "", version = ""] = path.split("/").filter((part) => part !== "");
  if (root === "api") return group !== "" && version === "";
  return root === "apis" && version !== "" && described(deps).some((resource) => resource.group === group);
}

function find(deps: HandlerDeps, request: ApiRequest): JsonObject | undefined {
  const resources = described(deps);
  const parts = request.path.split("/").filter((part) => part !== "");
  const [root = "", second = "", third = "", ...rest] = parts;
  if (rest.length > 0 && root !== "openapi") return undefined;
  switch (root) {
    case "":
      return { paths: rootPaths(resources) };
    case "version":
      return versionInfo();
    case "api":
    case "apis":
      return discover(deps, request, resources, { root, group: second, version: third });
    case "openapi":
      if (second !== "v3") return undefined;
      return third === "" ? openApiIndex(resources) : openApiDocument(deps.schema, resources, parts.slice(2).join("/"));
    default:
      return undefined;
  }
}

function discover(
  deps: HandlerDeps,
  request: ApiRequest,
  resources: readonly DiscoveredResource[],
  path: { readonly root: "api" | "apis"; readonly group: string; readonly version: string },
): JsonObject | undefined {
  const { root, group, version } = path;
  if (group === "") {
    if (wantsAggregatedDiscovery(headerOf(request, "accept")) !== undefined) return aggregated(resources, root);
    return root === "api" ? coreVersions(deps.serverAddress()) : groupList(resources);
  }
  if (root === "api") return version === "" ? resourceList(resources, "", group) : undefined;
  return version === "" ? groupInfo(resources, group) : resourceList(resources, group, version);
}

function rootPaths(resources: readonly DiscoveredResource[]): readonly string[] {
  const groups = [...new Set(resources.map(({ group }) => group))].filter((group) => group !== "").sort();
  const versions = groups.flatMap((group) => [
    `/apis/${group}`,
    ...new Set(
      resources.filter((resource) => resource.group === group).map(({ version }) => `/apis/${group}/${version}`),
    ),
  ]);
  return ["/api", "/api/v1", "/apis", "/apis/", ...versions, ...healthPaths, "/openapi/v3", "/openapi/v3/", "/version"];
}

function described(deps: HandlerDeps): readonly DescribedResource[] {
  const stored = deps.resources.map((resource) => ({
    ...resource,
    verbs: [
      "create",
      "delete",
      ...(resource.deleteCollection === false ? [] : ["deletecollection"]),
      "get",
      "list",
      "patch",
      "update",
      "watch",
    ],
  }));
  const asked = deps.reviews.map((review) => ({ ...review, namespaced: false, verbs: ["create"], subresources: [] }));
  return [...stored, ...asked];
}
