import { INITIAL_EVENTS_END } from "../../api/annotations.ts";
import type { ObjectMeta } from "../../api/meta.ts";
import { PartialObjectMetadata } from "../../../gen/cloudwire/kube/v1/kube.ts";
import { childSignal, DeadlineError, type OwnedSignal } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { DecodeError, recordField, stringField } from "../../util/json.ts";
import type { WatchEvent, WatchOptions } from "../client.ts";
import {
  isProtobuf,
  openEnvelope,
  openWatchFrame,
  parseJson,
  statusFromEnvelope,
  statusFromJson,
} from "../resources/envelope.ts";
import { type ApiStatus, errorFromFailure, errorFromStatus } from "../errors.ts";
import { lengthPrefixReader, lineReader } from "./frames.ts";
import { metaFromJson, metaFromWire } from "../resources/codec.ts";
import { collectionPath, queryString } from "../resources/paths.ts";
import type { Resource } from "../resources/resource.ts";
import type { StringCache } from "../../util/string-cache.ts";
import type { HttpResponse } from "../connection/transport.ts";

export interface WatchDependencies<T> {
  readonly resource: Resource<T>;
  readonly options: WatchOptions;
  readonly clock: Clock;
  readonly strings: StringCache;
  /** Sends the request; resolves when an answer of 2xx has begun. */
  readonly open: (path: string, signal: AbortSignal) => Promise<HttpResponse>;
}

/** One watch request, event by event, until the server closes it. Throws ApiError; leaving the loop ends the request. */
export async function* watchStream<T>(dependencies: WatchDependencies<T>): AsyncGenerator<WatchEvent<T>, void, void> {
  const { resource, options, clock, strings, open } = dependencies;
  const path = watchPath(resource, options);
  const what = `WATCH ${collectionPath(resource, options.namespace)}`;
  using silence = new Silence(options.signal, clock, what);
  try {
    silence.allow(options.startTimeoutMs);
    const response = await open(path, silence.signal);
    const protobuf = isProtobuf(response.header("content-type"));
    const frames = protobuf ? lengthPrefixReader() : lineReader();
    const decode = protobuf ? protobufEvent : jsonEvent;
    let idleMs = options.initialEvents === true ? options.initialIdleTimeoutMs : options.idleTimeoutMs;
    silence.allow(idleMs);
    yield { kind: "opened" };
    for await (const chunk of response.chunks()) {
      for (const frame of frames.push(chunk)) {
        const event = decode(resource, frame, strings, what);
        if (event.kind === "bookmark" && event.initialEventsEnd) idleMs = options.idleTimeoutMs;
        yield event;
      }
      silence.allow(idleMs);
    }
  } catch (error) {
    throw errorFromFailure(what, silence.signal.aborted ? silence.signal.reason : error, options.signal.aborted);
  }
}

function watchPath(resource: Resource<unknown>, options: WatchOptions): string {
  const { namespace, labelSelector, fieldSelector, resourceVersion, initialEvents, timeoutSeconds } = options;
  const query = queryString({
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    ...(initialEvents === true ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } : {}),
    timeoutSeconds,
  });
  return `${collectionPath(resource, namespace)}${query}`;
}

/** Aborts when nothing was heard for as long as was allowed last. */
class Silence implements Disposable {
  readonly #owned: OwnedSignal;
  readonly #clock: Clock;
  readonly #what: string;
  #timer: Timer | undefined;

  constructor(parent: AbortSignal, clock: Clock, what: string) {
    this.#owned = childSignal(parent);
    this.#clock = clock;
    this.#what = what;
  }

  get signal(): AbortSignal {
    return this.#owned.signal;
  }

  allow(limitMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.schedule(limitMs, () => this.#owned.abort(new DeadlineError(this.#what, limitMs)));
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#owned.abort(new Error(`${this.#what}: ended`));
    this.#owned[Symbol.dispose]();
  }
}

function jsonEvent<T>(resource: Resource<T>, frame: Uint8Array, _strings: StringCache, what: string): WatchEvent<T> {
  const event = parseJson(frame);
  const object = recordField(event, "object");
  const type = stringField(event, "type");
  if (type === "ERROR") throw watchError(what, statusFromJson(object));
  if (type === "BOOKMARK") return bookmark(metaFromJson(object));
  return { kind: changeKind(type), object: resource.fromJson(object) };
}

function protobufEvent<T>(resource: Resource<T>, frame: Uint8Array, strings: StringCache, what: string): WatchEvent<T> {
  const { type, object } = openWatchFrame(frame, strings);
  if (type === "ERROR") throw watchError(what, statusFromEnvelope(object, strings));
  const { reader } = openEnvelope(object, strings);
  if (type === "BOOKMARK") return bookmark(metaFromWire(PartialObjectMetadata.decode(reader).metadata));
  if (resource.protobuf === undefined) throw new DecodeError("the server answered protobuf though JSON was asked for");
  return { kind: changeKind(type), object: resource.protobuf.decode(reader) };
}

function changeKind(type: string): "added" | "modified" | "deleted" {
  if (type === "ADDED") return "added";
  if (type === "MODIFIED") return "modified";
  if (type === "DELETED") return "deleted";
  throw new DecodeError(`watch event of unknown type "${type}"`);
}

function bookmark({ resourceVersion, annotations }: ObjectMeta): WatchEvent<never> {
  return { kind: "bookmark", resourceVersion, initialEventsEnd: annotations[INITIAL_EVENTS_END] === "true" };
}

/** An ERROR event is a Status; without a code it is taken for a fault of the server. */
function watchError(what: string, status: ApiStatus): Error {
  return errorFromStatus(what, status.code === 0 ? 500 : status.code, status);
}
