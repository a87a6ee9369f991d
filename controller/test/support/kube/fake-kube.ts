import type { ObjectName } from "../../../src/api/meta.ts";
import type {
  CallOptions,
  DeleteOptions,
  JsonObject,
  KubeClient,
  ListOptions,
  ListWatcher,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../../../src/kube/client.ts";
import { ApiError, type ApiErrorCode } from "../../../src/kube/errors.ts";
import type { DecodedList, Resource } from "../../../src/kube/resources/codec.ts";
import { raceAbort } from "../../../src/util/abort.ts";
import { isRecord, type JsonRecord, recordField, stringField } from "../../../src/util/json.ts";

/** One call as it arrived. */
export interface KubeCall {
  readonly verb: "get" | "list" | "create" | "update" | "patch" | "delete";
  /** `nodes/n1`, `services/default/web/status`, `nodes`. */
  readonly target: string;
  readonly patch?: Patch;
  readonly body?: JsonRecord;
  readonly preconditions?: DeleteOptions["preconditions"];
}

/** Decides the fate of a call before it touches anything: an error to throw, or a promise to wait for first. */
export type Interceptor = (call: KubeCall) => ApiError | Promise<void> | undefined;

const STATUS: Readonly<Record<ApiErrorCode, number>> = {
  conflict: 409,
  alreadyExists: 409,
  notFound: 404,
  gone: 410,
  invalid: 422,
  forbidden: 403,
  namespaceTerminating: 403,
  unauthorized: 401,
  tooManyRequests: 429,
  unsupportedMedia: 415,
  transient: 500,
  aborted: 0,
};

export function apiError(code: ApiErrorCode, retryAfterMs?: number): ApiError {
  return new ApiError({ code, message: `fake ${code}`, httpStatus: STATUS[code], reason: "", retryAfterMs });
}

/**
 * The API server in memory: versions, conflicts, preconditions. Every patch is applied as a JSON merge patch, which is not what a
 * server does with a strategic one: tests of merging belong on devcluster or the real server, tests of what was sent read `calls`.
 */
export class FakeKube implements KubeClient, ListWatcher {
  readonly calls: KubeCall[] = [];
  intercept: Interceptor = () => undefined;
  /** Objects in one answer to a list. */
  pageSize = 500;
  /** Why nothing can be watched. */
  watchError: ApiError | undefined;
  readonly #watchers = new Set<(target: string, kind: "modified" | "deleted", object: JsonRecord) => void>();
  readonly #objects = new Map<string, JsonRecord>();
  #version = 100;

  /** Puts an object in place without a call. */
  seed(resource: Resource<unknown>, object: JsonRecord): void {
    const metadata = recordField(object, "metadata");
    const name = { namespace: stringField(metadata, "namespace"), name: stringField(metadata, "name") };
    this.#store(targetOf(resource, name), { kind: resource.kind, ...object });
  }

  /** Takes an object away without a call. */
  unseed(resource: Resource<unknown>, name: ObjectName): void {
    this.#objects.delete(targetOf(resource, name));
  }

  /** The object as stored; undefined when there is none. */
  stored(resource: Resource<unknown>, name: ObjectName): JsonRecord | undefined {
    return this.#objects.get(targetOf(resource, name));
  }

  /** Everything but reads. */
  get writes(): readonly KubeCall[] {
    return this.calls.filter(({ verb }) => verb !== "get" && verb !== "list");
  }

  async get<T>(resource: Resource<T>, name: ObjectName, options: CallOptions): Promise<T> {
    const target = targetOf(resource, name);
    await this.#arrive({ verb: "get", target }, options.signal);
    return resource.fromJson(this.#require(target));
  }

  async list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>> {
    await this.#arrive({ verb: "list", target: resource.plural }, options.signal);
    const { namespace = "", fieldSelector } = options;
    const [, name] = fieldSelector?.split("metadata.name=") ?? [];
    const only = name === undefined ? undefined : targetOf(resource, { namespace, name });
    const items = [...this.#objects].filter(([target]) =>
      only === undefined ? target.startsWith(`${resource.plural}/`) : target === only,
    );
    const from = Number(options.continue ?? 0);
    const next = from + this.pageSize;
    return {
      items: items.slice(from, next).map(([, object]) => resource.fromJson(object)),
      resourceVersion: String(this.#version),
      continue: next < items.length ? String(next) : "",
    };
  }

  async create<T>(
    resource: Resource<T>,
    namespace: string | undefined,
    body: JsonObject,
    options: WriteOptions,
  ): Promise<T> {
    const name = { namespace: namespace ?? "", name: stringField(recordField(body, "metadata"), "name") };
    const target = targetOf(resource, name);
    await this.#arrive({ verb: "create", target, body }, options.signal);
    if (this.#objects.has(target)) throw apiError("alreadyExists");
    const uid = `uid-${target}`;
    return resource.fromJson(this.#store(target, { ...body, metadata: { uid, ...recordField(body, "metadata") } }));
  }

  async update<T>(resource: Resource<T>, name: ObjectName, body: JsonRecord, options: WriteOptions): Promise<T> {
    const target = targetOf(resource, name);
    await this.#arrive({ verb: "update", target: withSubresource(target, options), body }, options.signal);
    const stored = this.#require(target);
    const sent = stringField(recordField(body, "metadata"), "resourceVersion");
    if (sent !== "" && sent !== versionOf(stored)) throw apiError("conflict");
    return resource.fromJson(this.#store(target, body));
  }

  async patch<T>(resource: Resource<T>, name: ObjectName, patch: Patch, options: WriteOptions): Promise<T> {
    const target = targetOf(resource, name);
    await this.#arrive({ verb: "patch", target: withSubresource(target, options), patch }, options.signal);
    const stored = this.#require(target);
    if (patch.kind === "json") return resource.fromJson(stored);
    const sent = stringField(recordField(patch.body, "metadata"), "resourceVersion");
    if (sent !== "" && sent !== versionOf(stored)) throw apiError("conflict");
    return resource.fromJson(this.#store(target, merge(stored, patch.body)));
  }

  async delete(resource: Resource<unknown>, name: ObjectName, options: DeleteOptions): Promise<void> {
    const target = targetOf(resource, name);
    const { preconditions } = options;
    await this.#arrive(
      { verb: "delete", target, ...(preconditions === undefined ? {} : { preconditions }) },
      options.signal,
    );
    const stored = this.#require(target);
    const uid = stringField(recordField(stored, "metadata"), "uid");
    if (preconditions?.uid !== undefined && preconditions.uid !== uid) throw apiError("conflict");
    this.#objects.delete(target);
    for (const notify of this.#watchers) notify(target, "deleted", stored);
  }

  /** Of one object, named by a field selector, from a version on. */
  async *watch<T>(resource: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>, void, undefined> {
    if (this.watchError !== undefined) throw this.watchError;
    const { signal, namespace = "", fieldSelector = "", resourceVersion = "" } = options;
    const wanted = targetOf(resource, { namespace, name: fieldSelector.replace("metadata.name=", "") });
    const queue: WatchEvent<T>[] = [{ kind: "opened" }];
    let news = Promise.withResolvers<void>();
    const take = (target: string, kind: "modified" | "deleted", object: JsonRecord): void => {
      if (target !== wanted) return;
      queue.push({ kind, object: resource.fromJson(object) });
      news.resolve();
    };
    const stored = this.#objects.get(wanted);
    if (stored !== undefined && versionOf(stored) !== resourceVersion) take(wanted, "modified", stored);
    this.#watchers.add(take);
    try {
      for (;;) {
        for (let event = queue.shift(); event !== undefined; event = queue.shift()) yield event;
        news = Promise.withResolvers<void>();
        await raceAbort(news.promise, signal);
      }
    } finally {
      this.#watchers.delete(take);
    }
  }

  async #arrive(call: KubeCall, signal: AbortSignal): Promise<void> {
    this.calls.push(call);
    const fate = this.intercept(call);
    if (fate instanceof ApiError) throw fate;
    if (fate !== undefined) await raceAbort(fate, signal).catch(() => undefined);
    if (signal.aborted) throw apiError("aborted");
  }

  #require(target: string): JsonRecord {
    const stored = this.#objects.get(target);
    if (stored === undefined) throw apiError("notFound");
    return stored;
  }

  #store(target: string, object: JsonRecord): JsonRecord {
    this.#version++;
    const metadata = { ...recordField(object, "metadata"), resourceVersion: String(this.#version) };
    const stored = { ...object, metadata };
    this.#objects.set(target, stored);
    for (const notify of this.#watchers) notify(target, "modified", stored);
    return stored;
  }
}

function targetOf({ plural }: Resource<unknown>, { namespace = "", name }: ObjectName): string {
  return [plural, namespace, name].filter((part) => part !== "").join("/");
}

function withSubresource(target: string, { subresource }: WriteOptions): string {
  return subresource === undefined ? target : `${target}/${subresource}`;
}

function versionOf(object: JsonRecord): string {
  return stringField(recordField(object, "metadata"), "resourceVersion");
}

function merge(stored: JsonRecord, patch: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...stored };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = isRecord(value) ? merge(recordField(result, key), value) : value;
  }
  return result;
}
