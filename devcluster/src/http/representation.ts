import { encodeObject, fromStored } from "../api/codec.ts";
import type { Page } from "../api/list.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { type Resource, apiVersionOf } from "../resources/resource.ts";
import type { Schema } from "../schema/schema.ts";
import type { Representation } from "./negotiate.ts";

/** What a table says of the object behind a row. */
export type IncludeObject = "Metadata" | "None" | "Object";

export interface Renderer {
  readonly object: (object: KubeObject) => string;
  readonly list: (page: Page) => string;
}

export interface RenderOptions {
  readonly schema: Schema;
  readonly resource: Resource;
  readonly representation: Representation;
  readonly includeObject: IncludeObject;
  readonly nowMs: () => number;
  /** JSON of objects, by object: the same ones are sent to many watchers and in many lists. */
  readonly cache: WeakMap<KubeObject, string>;
}

/** Turns objects and pages into JSON text in the form that the client asked for. */
export function createRenderer(options: RenderOptions): Renderer {
  switch (options.representation.kind) {
    case "object":
      return renderObjects(options);
    case "table":
      return renderTables(options, options.representation.version);
    case "metadata":
      return renderMetadata(options.representation.version);
    default:
      return options.representation satisfies never;
  }
}

function renderObjects({ schema, resource, cache }: RenderOptions): Renderer {
  const head = `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(apiVersionOf(resource))},`;
  const bare = (object: KubeObject): string => {
    if (resource.view !== undefined) return JSON.stringify(fromStored(schema, resource, object));
    const known = cache.get(object);
    if (known !== undefined) return known;
    const text = JSON.stringify(object);
    cache.set(object, text);
    return text;
  };
  return {
    object: (object) => head + bare(object).slice(1),
    list: (page) => {
      const meta = JSON.stringify(listMetadata(page));
      const kind = JSON.stringify(`${resource.kind}List`);
      const version = JSON.stringify(apiVersionOf(resource));
      return `{"kind":${kind},"apiVersion":${version},"metadata":${meta},"items":[${page.objects.map(bare).join(",")}]}`;
    },
  };
}

function renderTables(options: RenderOptions, version: string): Renderer {
  const render = (objects: readonly KubeObject[], metadata: JsonObject): string =>
    JSON.stringify({
      kind: "Table",
      apiVersion: `meta.k8s.io/${version}`,
      metadata,
      columnDefinitions: options.resource.columns.map(({ name, format = "", priority = 0 }) => ({
        name,
        type: "string",
        format,
        description: "",
        priority,
      })),
      rows: objects.map((object) => ({
        cells: options.resource.row(object, options.nowMs()),
        object: rowObject(options, version, object),
      })),
    });
  return {
    object: (object) => render([object], { resourceVersion: object.metadata.resourceVersion ?? "" }),
    list: (page) => render(page.objects, listMetadata(page)),
  };
}

function rowObject(options: RenderOptions, version: string, object: KubeObject): JsonObject | null {
  switch (options.includeObject) {
    case "None":
      return null;
    case "Object":
      return encodeObject(options.schema, options.resource, object);
    case "Metadata":
      return partialMetadata(version, object);
    default:
      return options.includeObject satisfies never;
  }
}

function renderMetadata(version: string): Renderer {
  return {
    object: (object) => JSON.stringify(partialMetadata(version, object)),
    list: (page) =>
      JSON.stringify({
        kind: "PartialObjectMetadataList",
        apiVersion: `meta.k8s.io/${version}`,
        metadata: listMetadata(page),
        items: page.objects.map((object) => partialMetadata(version, object)),
      }),
  };
}

function partialMetadata(version: string, object: KubeObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

function listMetadata(page: Page): JsonObject {
  return {
    resourceVersion: page.resourceVersion,
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
}
