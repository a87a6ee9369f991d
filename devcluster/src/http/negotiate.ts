import { notAcceptable } from "../api-error.ts";

/** How the client wants objects to look. */
export type Representation =
  | { readonly kind: "object" }
  | { readonly kind: "table"; readonly version: string }
  | { readonly kind: "metadata"; readonly version: string };

/** One of the types that a client accepts. */
export interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const jsonTypes = ["application/json", "application/*", "*/*"];

/** Chooses among what an Accept header offers; throws ApiError 406 when nothing of it can be served. */
export function negotiate(accept: string | undefined): Representation {
  const types = parseAccept(accept).filter(({ type }) => jsonTypes.includes(type));
  if (types.length === 0) {
    throw notAcceptable("406: Not Acceptable\n\nAvailable representations: application/json", {});
  }
  for (const { parameters } of types) {
    const representation = representationOf(parameters);
    if (representation !== undefined) return representation;
  }
  throw notAcceptable("only the following media types are accepted: application/json");
}

/** Whether the client asks for discovery of everything in one document; its version, or undefined. */
export function wantsAggregatedDiscovery(accept: string | undefined): string | undefined {
  const wanted = parseAccept(accept).find(
    ({ type, parameters }) =>
      type === "application/json" &&
      parameters.get("as") === "APIGroupDiscoveryList" &&
      parameters.get("g") === "apidiscovery.k8s.io",
  );
  const version = wanted?.parameters.get("v");
  return version === "v2" ? version : undefined;
}

function representationOf(parameters: ReadonlyMap<string, string>): Representation | undefined {
  const as = parameters.get("as");
  if (as === undefined) return { kind: "object" };
  const version = parameters.get("v") ?? "";
  if (parameters.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (as === "Table") return { kind: "table", version };
  return as === "PartialObjectMetadata" || as === "PartialObjectMetadataList"
    ? { kind: "metadata", version }
    : undefined;
}

/** The types of an Accept header, the most welcome first. */
export function parseAccept(accept: string | undefined): readonly MediaType[] {
  const header = accept === undefined || accept.trim() === "" ? "*/*" : accept;
  return header
    .split(",")
    .map((entry) => entry.split(";").map((part) => part.trim()))
    .map(([type = "", ...parameters]) => ({
      type,
      parameters: new Map(parameters.map((parameter) => splitParameter(parameter))),
    }))
    .map((media, index) => ({ media, index, quality: Number(media.parameters.get("q") ?? "1") }))
    .sort((left, right) => right.quality - left.quality || left.index - right.index)
    .map(({ media }) => media);
}

function splitParameter(parameter: string): readonly [string, string] {
  const [name = "", ...value] = parameter.split("=");
  return [name.trim(), value.join("=").trim()];
}
