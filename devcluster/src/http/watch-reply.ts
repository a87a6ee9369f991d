import { statusOf } from "../api-error.ts";
import type { ListOptions } from "../api/query.ts";
import { type WatchEvent, openWatch } from "../api/watch.ts";
import { type KubeObject, isKubeObject } from "../object.ts";
import type { Resource } from "../resources/resource.ts";
import { decode } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import type { HandlerDeps } from "./deps.ts";
import type { EventStream, Reply } from "./reply.ts";
import type { Renderer } from "./representation.ts";

export interface WatchCall {
  readonly namespace: string;
  readonly options: ListOptions;
  readonly renderer: Renderer;
}

const initialEventsEnd = "k8s.io/initial-events-end";

/** A response with one event per line, until the watch ends. */
export function watchReply(deps: HandlerDeps, resource: Resource, call: WatchCall): Reply {
  // Opened before the response starts, because a rejected request needs its status code.
  const pending: string[] = [];
  let stream: EventStream | undefined;
  let over = false;
  const stop = openWatch(deps, resource, call.namespace, call.options, {
    send: (event) => {
      const line = `${render(deps.schema, resource, call.renderer, event)}\n`;
      if (stream === undefined) pending.push(line);
      else stream.write(line);
    },
    end: () => {
      over = true;
      stream?.end();
    },
  });
  return {
    kind: "stream",
    contentType: "application/json",
    start: (started) => {
      stream = started;
      started.onClose(stop);
      for (const line of pending.splice(0)) started.write(line);
      if (over) started.end();
    },
  };
}

function render(schema: Schema, resource: Resource, renderer: Renderer, event: WatchEvent): string {
  switch (event.type) {
    case "ERROR":
      return JSON.stringify({ type: "ERROR", object: statusOf(event.error) });
    case "BOOKMARK":
      return `{"type":"BOOKMARK","object":${renderer.object(bookmark(schema, resource, event))}}`;
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return `{"type":"${event.type}","object":${renderer.object(event.object)}}`;
    default:
      return event satisfies never;
  }
}

/** An object of the kind with only a resourceVersion. */
function bookmark(schema: Schema, resource: Resource, event: Extract<WatchEvent, { type: "BOOKMARK" }>): KubeObject {
  const type = resource.view?.storedType ?? resource.type;
  const metadata = {
    resourceVersion: event.resourceVersion,
    ...(event.initialEventsEnd ? { annotations: { [initialEventsEnd]: "true" } } : {}),
  };
  const { value } = decode(schema.shape(type), { metadata });
  return isKubeObject(value) ? value : { metadata };
}
