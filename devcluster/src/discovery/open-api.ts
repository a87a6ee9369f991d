import type { JsonObject } from "../json.ts";
import type { Field, ScalarName, Schema, Shape } from "../schema/schema.ts";
import { kubernetesVersion } from "../schema/gen/type-table.ts";
import type { DiscoveredResource } from "./discovery.ts";

/** A resource with the struct that describes it. */
export interface DescribedResource extends DiscoveredResource {
  readonly type: string;
}

/** /openapi/v3: where the document of each group and version is. */
export function openApiIndex(resources: readonly DescribedResource[]): JsonObject {
  const paths = [...new Set(resources.map(rootOf))];
  return { paths: Object.fromEntries(paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }])) };
}

/**
 * /openapi/v3/<root>, undefined when there is none: the shapes of the kinds, for `kubectl explain` and apply, and just enough of the
 * operations for kubectl to see that the server validates fields itself.
 */
export function openApiDocument(
  schema: Schema,
  resources: readonly DescribedResource[],
  root: string,
): JsonObject | undefined {
  const members = resources.filter((resource) => rootOf(resource) === root);
  if (members.length === 0) return undefined;
  const schemas: Record<string, JsonObject> = {};
  for (const { type } of members) collect(schema.shape(type), schemas);
  for (const member of members) {
    const name = schemaName(member.type);
    schemas[name] = { ...schemas[name], "x-kubernetes-group-version-kind": [versionKind(member)] };
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: kubernetesVersion.replace(/\.\d+$/, "") },
    paths: Object.fromEntries(members.flatMap(paths)),
    components: { schemas },
  };
}

function rootOf({ group, version }: DescribedResource): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function versionKind({ group, version, kind }: DescribedResource): JsonObject {
  return { group, version, kind };
}

function paths(resource: DescribedResource): readonly (readonly [string, JsonObject])[] {
  const scope = resource.namespaced ? "/namespaces/{namespace}" : "";
  const collection = `/${rootOf(resource)}${scope}/${resource.name}`;
  const single = `${collection}/{name}`;
  const actions = [
    ["create", "post", collection, "post"],
    ["list", "get", collection, "list"],
    ["get", "get", single, "get"],
    ["update", "put", single, "put"],
    ["patch", "patch", single, "patch"],
    ["delete", "delete", single, "delete"],
  ] as const;
  const byPath = new Map<string, Record<string, JsonObject>>();
  for (const [verb, method, path, action] of actions) {
    if (!resource.verbs.includes(verb)) continue;
    byPath.set(path, { ...byPath.get(path), [method]: operation(resource, action) });
  }
  return [...byPath];
}

function operation(resource: DescribedResource, action: string): JsonObject {
  return {
    operationId: `${action}${resource.kind}`,
    parameters: ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
      name,
      in: "query",
      schema: { type: "string", uniqueItems: true },
    })),
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": versionKind(resource),
  };
}

function collect(shape: Shape, schemas: Record<string, JsonObject>): void {
  switch (shape.kind) {
    case "scalar":
      return;
    case "list":
      collect(shape.element, schemas);
      return;
    case "map":
      collect(shape.value, schemas);
      return;
    case "struct": {
      const name = schemaName(shape.name);
      if (schemas[name] !== undefined) return;
      schemas[name] = {};
      const fields = [...shape.fields().values()];
      schemas[name] = {
        type: "object",
        properties: Object.fromEntries(fields.map((field) => [field.name, property(field)])),
      };
      for (const field of fields) collect(field.shape, schemas);
      return;
    }
    default:
      shape satisfies never;
  }
}

function property({ shape, spec }: Field): JsonObject {
  const strategies = [...(spec.retainKeys === true ? ["retainKeys"] : []), ...(spec.merge === true ? ["merge"] : [])];
  return {
    ...describe(shape),
    ...(strategies.length === 0 ? {} : { "x-kubernetes-patch-strategy": strategies.join(",") }),
    ...(spec.mergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": spec.mergeKey }),
  };
}

function describe(shape: Shape): JsonObject {
  switch (shape.kind) {
    case "scalar":
      return scalars[shape.name];
    case "list":
      return { type: "array", items: describe(shape.element) };
    case "map":
      return { type: "object", additionalProperties: describe(shape.value) };
    case "struct":
      return { allOf: [{ $ref: `#/components/schemas/${schemaName(shape.name)}` }] };
    default:
      return shape satisfies never;
  }
}

const scalars: Readonly<Record<ScalarName, JsonObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  Time: { type: "string", format: "date-time" },
  MicroTime: { type: "string", format: "date-time" },
  Quantity: { type: "string" },
  IntOrString: { type: "string", format: "int-or-string" },
  bytes: { type: "string", format: "byte" },
  Raw: { type: "object" },
};

/** The name by which clients know a struct: io.k8s.api.core.v1.Node for "core.v1.Node". */
function schemaName(type: string): string {
  return type.startsWith("meta.v1.") ? `io.k8s.apimachinery.pkg.apis.${type}` : `io.k8s.api.${type}`;
}
