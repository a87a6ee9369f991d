import { PartialObjectMetadata } from "../../../gen/cloudwire/kube/v1/kube.ts";
import { INITIAL_EVENTS_END } from "../../api/annotations.ts";
import type { ObjectMeta } from "../../api/meta.ts";
import { DeadlineError, childSignal } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { DecodeError, recordField, stringField } from "../../util/json.ts";
import type { StringCache } from "../../util/string-cache.ts";
import type { WatchEvent, WatchOptions } from "../client.ts";
import type { HttpResponse } from "../connection/transport.ts";
import { type ApiStatus, errorFromFailure, errorFromStatus } from "../errors.ts";
import {
  type Resource,
  codecOf,
  collectionPath,
  isProtobuf,
  metaFromJson,
  metaFromWire,
  openEnvelope,
  openWatchFrame,
  parseJson,
  queryString,
  statusFromEnvelope,
  statusFromJson,
} from "../resources/codec.ts";

export interface WatchDependencies<T> {
  readonly resource: Resource<T>;
  readonly options: WatchOptions;
  readonly clock: Clock;
  readonly strings: StringCache;
  /** Sends the request; resolves at the start of a 2xx response. */
  readonly open: (path: string, signal: AbortSignal) => Promise<HttpResponse>;
}

/** One watch request, event by event, until the server closes it. Throws ApiError; leaving the loop ends the request. */
export async function* watchStream<T>(dependencies: WatchDependencies<T>): AsyncGenerator<WatchEvent<T>, void, void> {
  const { resource, options, clock, strings, open } = dependencies;
  const path = watchPath(resource, options);
  const what = `WATCH ${collectionPath(resource, options.namespace)}`;
  using idle = idleLimit(options.signal, clock, what);
  try {
    idle.allow(options.startTimeoutMs);
    const response = await open(path, idle.signal);
    const protobuf = isProtobuf(response.header("content-type"));
    const frames = protobuf ? lengthPrefixReader() : lineReader();
    const decode = protobuf ? protobufEvent : jsonEvent;
    let idleMs = options.initialEvents === true ? options.initialIdleTimeoutMs : options.idleTimeoutMs;
    idle.allow(idleMs);
    yield { kind: "opened" };
    for await (const chunk of response.chunks()) {
      for (const frame of frames.push(chunk)) {
        const event = decode(resource, frame, strings, what);
        if (event.kind === "bookmark" && event.initialEventsEnd) idleMs = options.idleTimeoutMs;
        yield event;
      }
      idle.allow(idleMs);
    }
  } catch (error) {
    throw errorFromFailure(what, idle.signal.aborted ? idle.signal.reason : error, options.signal.aborted);
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

/** Aborts when nothing arrives within the limit set last. */
function idleLimit(parent: AbortSignal, clock: Clock, what: string) {
  const owned = childSignal(parent);
  let timer: Timer | undefined;
  return {
    signal: owned.signal,
    allow: (limitMs: number): void => {
      timer?.cancel();
      timer = clock.schedule(limitMs, () => owned.abort(new DeadlineError(what, limitMs)));
    },
    [Symbol.dispose]: (): void => {
      timer?.cancel();
      owned.abort(new Error(`${what}: ended`));
      owned[Symbol.dispose]();
    },
  };
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
  return { kind: changeKind(type), object: codecOf(resource).decode(reader) };
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

/** An ERROR event holds a Status; without a code it counts as a server error. */
function watchError(what: string, status: ApiStatus): Error {
  return errorFromStatus(what, status.code === 0 ? 500 : status.code, status);
}

/** Splits a byte stream into frames and keeps only the unfinished rest. */
export interface FrameReader {
  /** The frames that `chunk` completes. They may be views into `chunk`. */
  push(chunk: Uint8Array): readonly Uint8Array[];
}

/** Larger than any object of a Kubernetes API (etcd rejects requests over 1.5 MiB; the body limit is usually 3 MiB). */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/** JSON watch: one object a line. */
export function lineReader(): FrameReader {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  return {
    push: (chunk) => {
      const frames: Uint8Array[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const last = chunk.subarray(start, end);
        const line = pending.length === 0 ? last : Buffer.concat([...pending, last]);
        pending = [];
        pendingBytes = 0;
        if (line.length > 0) frames.push(line);
        start = end + 1;
      }
      if (start < chunk.length) {
        pending.push(chunk.subarray(start));
        pendingBytes = limit(pendingBytes + chunk.length - start);
      }
      return frames;
    },
  };
}

/** Protobuf watch: 4 bytes of length, big-endian, then the frame. apimachinery/pkg/util/framer/framer.go v0.36.3. */
export function lengthPrefixReader(): FrameReader {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let neededBytes = 4;
  return {
    push: (chunk) => {
      pending.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes < neededBytes) return [];
      const bytes = pending.length === 1 ? chunk : Buffer.concat(pending);
      const frames: Uint8Array[] = [];
      let start = 0;
      for (;;) {
        if (bytes.length - start < 4) {
          neededBytes = 4;
          break;
        }
        const length = limit(new DataView(bytes.buffer, bytes.byteOffset + start, 4).getUint32(0));
        neededBytes = 4 + length;
        if (bytes.length - start < neededBytes) break;
        frames.push(bytes.subarray(start + 4, start + neededBytes));
        start += neededBytes;
      }
      pending = start < bytes.length ? [bytes.subarray(start)] : [];
      pendingBytes = bytes.length - start;
      return frames;
    },
  };
}

function limit(bytes: number): number {
  if (bytes > MAX_FRAME_BYTES) throw new RangeError(`watch frame of ${bytes} bytes: the stream is corrupt`);
  return bytes;
}
