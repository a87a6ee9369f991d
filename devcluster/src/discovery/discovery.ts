import type { JsonObject } from "../json.ts";
import { kubernetesVersion } from "../schema/gen/type-table.ts";

/** What discovery says of one resource. */
export interface DiscoveredResource {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly subresources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** /version, which kubectl compares with its own. */
export function versionInfo(): JsonObject {
  const [major, minor] = kubernetesVersion.split(".");
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: `${Number(minor) - 1}`,
    gitVersion: `v${kubernetesVersion}+devcluster`,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: `${process.platform}/${process.arch}`,
  };
}

/** /api */
export function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

/** /apis */
export function groupList(resources: readonly DiscoveredResource[]): JsonObject {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: namedGroups(resources).map((name) => group(resources, name)),
  };
}

/** /apis/<group>, undefined when there is none. */
export function groupInfo(resources: readonly DiscoveredResource[], name: string): JsonObject | undefined {
  if (!namedGroups(resources).includes(name)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...group(resources, name) };
}

/** /api/v1 and /apis/<group>/<version>, undefined when there is none. */
export function resourceList(
  resources: readonly DiscoveredResource[],
  group: string,
  version: string,
): JsonObject | undefined {
  const members = resources.filter((resource) => resource.group === group && resource.version === version);
  if (members.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: members.flatMap(apiResources),
  };
}

/** Aggregated discovery: every group of /api or of /apis with its resources. */
export function aggregated(resources: readonly DiscoveredResource[], root: "api" | "apis"): JsonObject {
  const groups = root === "api" ? [""] : namedGroups(resources);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((name) => ({
      metadata: name === "" ? {} : { name },
      versions: versionsOf(resources, name).map((version) => ({
        version,
        resources: resources
          .filter((resource) => resource.group === name && resource.version === version)
          .map(discovery),
        freshness: "Current",
      })),
    })),
  };
}

/** By the real server's priority, the order in which kubectl looks a short name up. */
const groupOrder = [
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
];

function namedGroups(resources: readonly DiscoveredResource[]): readonly string[] {
  return groupOrder.filter((name) => resources.some((resource) => resource.group === name));
}

function versionsOf(resources: readonly DiscoveredResource[], name: string): readonly string[] {
  return [...new Set(resources.filter((resource) => resource.group === name).map(({ version }) => version))];
}

function group(resources: readonly DiscoveredResource[], name: string): JsonObject {
  const versions = versionsOf(resources, name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] ?? {} };
}

function apiResources(resource: DiscoveredResource): readonly JsonObject[] {
  const { name, singular, namespaced, kind, verbs, shortNames, categories } = resource;
  return [
    {
      name,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames === undefined ? {} : { shortNames }),
      ...(categories === undefined ? {} : { categories }),
    },
    ...resource.subresources.map((subresource) => ({
      name: `${name}/${subresource.name}`,
      singularName: "",
      namespaced,
      kind,
      verbs: subresource.verbs,
    })),
  ];
}

function discovery(resource: DiscoveredResource): JsonObject {
  const { name, singular, namespaced, kind, verbs, shortNames, categories, subresources } = resource;
  // The real server leaves group and version empty where they are the list's own.
  const responseKind = { group: "", version: "", kind };
  return {
    resource: name,
    responseKind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind,
            verbs: subresource.verbs,
          })),
        }),
  };
}
