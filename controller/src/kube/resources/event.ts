import type { Event, EventType } from "../../api/event.ts";
import type { ObjectReference } from "../../api/meta.ts";
import { type JsonRecord, numberField, recordField, stringField } from "../../util/json.ts";
import type { JsonObject } from "../client.ts";
import { type Resource, formatTime, metaFromJson, timeFromJson } from "./codec.ts";

/** core/v1, as upstream's recorder writes them. JSON only. */
export const EVENTS: Resource<Event> = {
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
  fromJson,
};

function fromJson(object: JsonRecord): Event {
  const { namespace, name, resourceVersion } = metaFromJson(object);
  return {
    namespace,
    name,
    resourceVersion,
    involvedObject: referenceFromJson(recordField(object, "involvedObject")),
    type: typeFromJson(stringField(object, "type")),
    reason: stringField(object, "reason"),
    message: stringField(object, "message"),
    component: stringField(recordField(object, "source"), "component"),
    count: numberField(object, "count"),
    firstTimestampMs: timeFromJson(object, "firstTimestamp") ?? 0,
    lastTimestampMs: timeFromJson(object, "lastTimestamp") ?? 0,
  };
}

function typeFromJson(type: string): EventType {
  return type === "Warning" ? "Warning" : "Normal";
}

function referenceFromJson(reference: JsonRecord): ObjectReference {
  return {
    apiVersion: stringField(reference, "apiVersion"),
    kind: stringField(reference, "kind"),
    namespace: stringField(reference, "namespace"),
    name: stringField(reference, "name"),
    uid: stringField(reference, "uid"),
    resourceVersion: stringField(reference, "resourceVersion"),
    fieldPath: stringField(reference, "fieldPath"),
  };
}

export function eventBody(event: Event): JsonObject {
  const { namespace, name, involvedObject, type, reason, message, component, count } = event;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name },
    involvedObject: { ...involvedObject },
    reason,
    message,
    source: { component },
    firstTimestamp: formatTime(event.firstTimestampMs),
    lastTimestamp: formatTime(event.lastTimestampMs),
    count,
    type,
    eventTime: null,
    reportingComponent: component,
    reportingInstance: "",
  };
}

export function eventCountPatch({ count, lastTimestampMs, message }: Event): JsonObject {
  return { count, lastTimestamp: formatTime(lastTimestampMs), message };
}
