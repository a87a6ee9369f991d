import { OBJECT_KINDS } from "@cloudwire/operator-api";
import { type ObjectName, parseRef } from "./object-name.ts";
import { isState, type ListKind, type Selection } from "./selection.ts";

const LIST_KINDS: readonly ListKind[] = [...OBJECT_KINDS, "all"];

/** The current view: the fragment of the URL. */
export type Place =
  | { readonly view: "overview" }
  | { readonly view: "list"; readonly selection: Selection }
  | { readonly view: "object"; readonly object: ObjectName }
  | { readonly view: "calls" }
  | { readonly view: "controllers" }
  | { readonly view: "unknown"; readonly path: string };

/** `#/`, `#/nodes?state=blocked&provider=aws&search=worker`, `#/all?search=worker`, `#/node/worker-1`, `#/calls`, `#/controllers`. */
export function parsePlace(hash: string): Place {
  const [path, query] = splitOnce(hash.replace(/^#?\/?/, ""), "?");
  if (path === "") return { view: "overview" };
  if (path === "calls" || path === "controllers") return { view: path };
  const kind = LIST_KINDS.find((known) => pathOf(known) === path);
  if (kind !== undefined) {
    const terms = new URLSearchParams(query);
    const state = terms.get("state");
    return {
      view: "list",
      selection: {
        kind,
        search: terms.get("search") ?? "",
        state: isState(state) ? state : undefined,
        provider: terms.get("provider") ?? undefined,
      },
    };
  }
  const object = parseRef(path.split("/").map(decode).join("/"));
  return object === undefined ? { view: "unknown", path } : { view: "object", object };
}

export function formatPlace(place: Place): string {
  switch (place.view) {
    case "overview":
      return "#/";
    case "calls":
    case "controllers":
      return `#/${place.view}`;
    case "object":
      return `#/${place.object.kind}/${place.object.name.split("/").map(encodeURIComponent).join("/")}`;
    case "list":
      return `#/${pathOf(place.selection.kind)}${formatTerms(place.selection)}`;
    case "unknown":
      return `#/${place.path}`;
    default:
      return place satisfies never;
  }
}

function formatTerms({ state, provider, search }: Selection): string {
  const terms = new URLSearchParams();
  if (state !== undefined) terms.set("state", state);
  if (provider !== undefined) terms.set("provider", provider);
  if (search !== "") terms.set("search", search);
  return terms.size === 0 ? "" : `?${terms}`;
}

function pathOf(kind: ListKind): string {
  return kind === "all" ? kind : `${kind}s`;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** As it stands where it is not well-formed: an address is typed by people. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** All of a kind. */
export function wholeList(kind: Selection["kind"], state?: Selection["state"]): Place {
  return { view: "list", selection: { kind, search: "", state, provider: undefined } };
}
