import type { UserName } from "../resources/resource.ts";
import type { Schema } from "../schema/schema.ts";
import type { Store } from "../storage/store.ts";

/** What every verb needs of the server. */
export interface Deps {
  readonly store: Store;
  readonly schema: Schema;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly newUid: () => string;
  /** Text that makes a generated name unique: five characters. */
  readonly nameSuffix: () => string;
}

/** How a write is to be done. */
export interface WriteOptions {
  readonly user: UserName;
  readonly dryRun: boolean;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
  /** Collects warnings for the client. */
  readonly warn: (message: string) => void;
}

/** The object that a request is about. */
export interface Target {
  /** "" for a cluster-wide kind. */
  readonly namespace: string;
  readonly name: string;
}

/** The store's key for an object. */
export function keyOf(target: Target): string {
  return target.namespace === "" ? target.name : `${target.namespace}/${target.name}`;
}
