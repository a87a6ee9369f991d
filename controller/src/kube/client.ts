import type { ObjectName } from "../api/meta.ts";
import type { DecodedList, Resource } from "./resource.ts";

/** One call to the API server. Every call ends by `timeoutMs` or when `signal` aborts. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** @default 30_000 */
  readonly timeoutMs?: number;
}

/** A change to one object. `strategic` merges lists by key (built-in kinds only), `merge` replaces them, `json` is RFC 6902. */
export type Patch =
  | { readonly kind: "strategic"; readonly body: JsonObject }
  | { readonly kind: "merge"; readonly body: JsonObject }
  | { readonly kind: "json"; readonly body: readonly JsonPatchStep[] };

export type JsonPatchStep =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "remove"; readonly path: string };

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Such as "status". */
  readonly subresource?: string;
}

export interface DeleteOptions extends CallOptions {
  /** The object is deleted only if it is still this one; otherwise the call fails with code `conflict`. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects a page. @default 100 */
  readonly limit?: number;
  /** Token of the page before. */
  readonly continue?: string;
}

/**
 * Typed calls to the API server. Fails with {@link ./errors.ts ApiError} only: code, HTTP status, reason, retryAfterMs.
 * Answered 429 and 5xx are retried inside the deadline when the server asked for it (Retry-After); a caller sees what is left.
 */
export interface KubeClient {
  get<T>(resource: Resource<T>, name: ObjectName, options: CallOptions): Promise<T>;
  list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>>;
  create<T>(resource: Resource<T>, namespace: string | undefined, body: JsonObject, options: WriteOptions): Promise<T>;
  /** Full replace; `body.metadata.resourceVersion` makes it conditional. */
  update<T>(resource: Resource<T>, name: ObjectName, body: JsonObject, options: WriteOptions): Promise<T>;
  patch<T>(resource: Resource<T>, name: ObjectName, patch: Patch, options: WriteOptions): Promise<T>;
  delete(resource: Resource<unknown>, name: ObjectName, options: DeleteOptions): Promise<void>;
}
