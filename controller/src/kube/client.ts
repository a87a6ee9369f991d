import type { ObjectName } from "../api/meta.ts";
import type { JsonRecord } from "../util/json.ts";
import type { DecodedList, Resource } from "./resources/codec.ts";

/** One call to the API server. Every call ends by `timeoutMs` or when `signal` aborts. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** For the whole call, retries included. @default 30_000 */
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
  /** More is written after it whatever it answers: where writes are only planned, it does not end the plan. @default false */
  readonly isFirstOfMore?: boolean;
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
 * Typed calls to the API server. They fail with ApiError (errors.ts) or AccessError (access.ts) only.
 *
 * Retried inside the deadline: answers that carry Retry-After (429, 5xx), reads whose connection broke before an answer, one 401
 * with credentials read anew. Everything else is the caller's to retry: its queue backs off by key.
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
  /** Changes after this version are sent. Left out together with `initialEvents`. */
  readonly resourceVersion?: string;
  /** Asks for the present state as added events first, closed by a bookmark with `initialEventsEnd` (a streamed list). */
  readonly initialEvents?: boolean;
  /** The server ends the watch after this long. */
  readonly timeoutSeconds: number;
  /** Gives up when the server does not begin to answer. */
  readonly startTimeoutMs: number;
  /** Gives up when nothing arrives for this long while the initial events are not complete. */
  readonly initialIdleTimeoutMs: number;
  /** Gives up when nothing arrives for this long after that, bookmarks included: finds half-open connections. */
  readonly idleTimeoutMs: number;
}

export type WatchEvent<T> =
  /** First of each watch: the server has accepted the request. */
  | { readonly kind: "opened" }
  | { readonly kind: "added" | "modified" | "deleted"; readonly object: T }
  | { readonly kind: "bookmark"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** What an informer needs. A watch ends normally when the server closes it, and throws ApiError otherwise. */
export interface ListWatcher {
  list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>>;
  watch<T>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}
