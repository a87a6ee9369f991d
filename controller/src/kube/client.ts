import type { ObjectName } from "../api/meta.ts";
import type { JsonRecord } from "../util/json.ts";
import type { DecodedList, Resource } from "./resources/codec.ts";

/** Every call ends by `timeoutMs` or when `signal` aborts. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** For the call with its retries. @default 30_000 */
  readonly timeoutMs?: number;
}

/** `strategic` merges lists by key (built-in kinds only), `merge` replaces them, `json` is RFC 6902. */
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
  /** For example "status". */
  readonly subresource?: string;
  /** Another write follows in any case: in observe mode the plan continues after this one. @default false */
  readonly isFirstOfMore?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Fails with code `conflict` if the object is not this one. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects per page. @default 100 */
  readonly limit?: number;
  /** Token of the previous page. */
  readonly continue?: string;
}

/**
 * Typed calls to the API server. They fail only with ApiError (errors.ts) or AccessError (access.ts). Within the deadline they retry:
 * responses with Retry-After (429, 5xx), reads whose connection failed before a response, and one 401 with renewed credentials. Callers
 * retry the rest through their queue's back-off.
 */
export interface KubeClient {
  get<T>(resource: Resource<T>, name: ObjectName, options: CallOptions): Promise<T>;
  list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>>;
  create<T>(resource: Resource<T>, namespace: string | undefined, body: JsonObject, options: WriteOptions): Promise<T>;
  /** Full replace: `body` must hold every field of the object. `body.metadata.resourceVersion` makes it conditional. */
  update<T>(resource: Resource<T>, name: ObjectName, body: JsonRecord, options: WriteOptions): Promise<T>;
  patch<T>(resource: Resource<T>, name: ObjectName, patch: Patch, options: WriteOptions): Promise<T>;
  delete(resource: Resource<unknown>, name: ObjectName, options: DeleteOptions): Promise<void>;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Sends changes after this version. Not with `initialEvents`. */
  readonly resourceVersion?: string;
  /** Sends the current state as added events first, closed by a bookmark with `initialEventsEnd` (a streamed list). */
  readonly initialEvents?: boolean;
  /** The server ends the watch after this long. */
  readonly timeoutSeconds: number;
  /** Longest wait for the start of the response. */
  readonly startTimeoutMs: number;
  /** Longest silence until the initial events are complete. */
  readonly initialIdleTimeoutMs: number;
  /** Longest silence after that, bookmarks included: detects half-open connections. */
  readonly idleTimeoutMs: number;
}

export type WatchEvent<T> =
  /** First event: the server has accepted the request. */
  | { readonly kind: "opened" }
  | { readonly kind: "added" | "modified" | "deleted"; readonly object: T }
  | { readonly kind: "bookmark"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** A watch ends normally when the server closes it, and throws ApiError otherwise. */
export interface ListWatcher {
  list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>>;
  watch<T>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}
