import { badRequest, expired, notFound, tooLargeResourceVersion } from "../api-error.ts";
import type { KubeObject } from "../object.ts";
import { type Resource, groupResourceOf, tableOf } from "../resources/resource.ts";
import { CompactedError, type Entry, type Store } from "../storage/store.ts";
import { type Target, keyOf } from "./context.ts";
import { formatContinueToken, parseContinueToken } from "./continue-token.ts";
import { createPredicate } from "./predicate.ts";
import { type ListOptions, parseResourceVersion } from "./query.ts";

/** One page of a list. */
export interface Page {
  readonly objects: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
}

const oldContinue =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
const oldVersion = "The resourceVersion for the provided list is too old.";

/** GET of one object. */
export function getObject(store: Store, resource: Resource, target: Target, resourceVersion: string): KubeObject {
  if (resourceVersion !== "") {
    const asked = parseResourceVersion(resourceVersion, "other");
    if (asked > store.revision) throw tooLargeResourceVersion(asked, store.revision);
  }
  const object = store.get(tableOf(resource), keyOf(target));
  if (object === undefined) throw notFound(groupResourceOf(resource), target.name);
  return object;
}

/** GET of a collection. `namespace` is "" for all namespaces. */
export function listObjects(store: Store, resource: Resource, namespace: string, options: ListOptions): Page {
  const predicate = createPredicate(resource, namespace, options);
  const start = startOf(store, options);
  const prefix = namespace === "" ? "" : `${namespace}/`;
  const entries = snapshot(store, resource, start).filter(
    ({ key }) => key.startsWith(prefix) && (start.after === "" || key > prefix + start.after),
  );
  const matching = entries.filter(({ object }) => predicate.matches(object));
  const limited = start.limit > 0 && matching.length > start.limit;
  const page = limited ? matching.slice(0, start.limit) : matching;
  const last = page.at(-1);
  const resourceVersion = `${start.revision}`;
  const objects = page.map(({ object }) => object);
  if (!limited || last === undefined) return { objects, resourceVersion };
  const continueToken = formatContinueToken({ revision: start.revision, lastKey: last.key.slice(prefix.length) });
  if (predicate.selective) return { objects, resourceVersion, continueToken };
  return { objects, resourceVersion, continueToken, remainingItemCount: entries.length - page.length };
}

interface Start {
  readonly revision: number;
  /** Keys up to and including this one, relative to the namespace, were sent before. */
  readonly after: string;
  readonly limit: number;
}

function startOf(store: Store, options: ListOptions): Start {
  const { resourceVersion: text, limit } = options;
  const current = store.revision;
  if (options.continueToken !== "") {
    if (text !== "" && text !== "0") throw badRequest("specifying resource version is not allowed when using continue");
    const token = parseContinueToken(options.continueToken);
    return {
      revision: token.revision < 0 ? current : token.revision,
      after: token.lastKey,
      limit: text === "0" ? 0 : limit,
    };
  }
  if (text === "") return { revision: current, after: "", limit };
  const asked = parseResourceVersion(text, "list");
  // Served from the watch cache, which pays no attention to limits.
  if (asked === 0) return { revision: current, after: "", limit: 0 };
  if (asked > current) throw tooLargeResourceVersion(asked, current);
  const exact = options.resourceVersionMatch === "Exact" || (options.resourceVersionMatch === "" && limit > 0);
  return { revision: exact ? asked : current, after: "", limit };
}

function snapshot(store: Store, resource: Resource, start: Start): readonly Entry[] {
  try {
    return store.listAt(tableOf(resource), start.revision);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (start.after === "") throw expired(oldVersion);
    throw expired(oldContinue, formatContinueToken({ revision: -1, lastKey: start.after }));
  }
}
