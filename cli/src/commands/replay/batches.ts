import type { MethodName } from "@cloudwire/proto/methods";
import { at, isRecord, type Json, textAt } from "../../client/json.ts";
import { canonical } from "./walk.ts";

/**
 * An RPC about many items, which are matched one by one: which of them are asked for together depends on what is wanted at the same
 * moment, and is another in each run.
 */
export interface Batch {
  /** The list of the request. */
  readonly items: string;
  /** What an item is about, whatever else is said of it. */
  readonly key: (item: Json) => string;
  /** The field of a result in which an error stands. */
  readonly error: string;
}

const route: Batch = {
  items: "routes",
  key: (item) => `${textAt(item, "destinationCidr")} ${textAt(item, "targetNodeName")}`,
  error: "error",
};

export const BATCHES: Partial<Readonly<Record<MethodName, Batch>>> = {
  BatchGetInstances: {
    items: "nodes",
    // If there is a provider ID it alone decides.
    key: (item) => (textAt(item, "providerId") === "" ? `name ${textAt(item, "name")}` : textAt(item, "providerId")),
    error: "unknown",
  },
  BatchGetVolumes: {
    items: "volumes",
    key: (item) => canonical([at(item, "csi"), at(item, "inTree")]),
    error: "unknown",
  },
  BatchEnsureRoutes: route,
  BatchDeleteRoutes: route,
};

/** The records of a list; none where there is no list. */
export function recordsAt(message: Json, field: string): readonly Json[] {
  const items = message[field];
  return Array.isArray(items) ? items.filter(isRecord) : [];
}
