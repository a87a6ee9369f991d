import type { JsonObject } from "../json.ts";
import { type KubeObject, nameOf } from "../object.ts";
import { type FieldError, invalidValue, required } from "../validation/field-error.ts";
import { validateImmutable, validateText } from "../validation/metadata.ts";
import { dnsSubdomain, pathSegment, qualifiedName } from "../validation/names.ts";
import { nameColumn, since } from "./columns.ts";
import type { Cell, Column, Resource, Strategy } from "./resource.ts";

/** An Event as core/v1 names its fields, in which form it is stored. */
export type Event = KubeObject &
  Readonly<{
    involvedObject: Readonly<{
      kind?: string;
      namespace?: string;
      name?: string;
      uid?: string;
      apiVersion?: string;
      resourceVersion?: string;
      fieldPath?: string;
    }>;
    reason?: string;
    message?: string;
    source: Readonly<{ component?: string; host?: string }>;
    firstTimestamp: string | null;
    lastTimestamp: string | null;
    count?: number;
    type?: string;
    eventTime: string | null;
    series?: Readonly<{ count?: number; lastObservedTime?: string | null }>;
    action?: string;
    related?: JsonObject;
    reportingComponent: string;
    reportingInstance: string;
  }>;

/** Upstream pkg/apis/core/validation/events.go, v1.37. */
const lengthLimit = 128;
const noteLengthLimit = 1024;

const columns: readonly Column[] = [
  { name: "Last Seen" },
  { name: "Type" },
  { name: "Reason" },
  { name: "Object" },
  { name: "Subobject", priority: 1 },
  { name: "Source", priority: 1 },
  { name: "Message" },
  { name: "First Seen", priority: 1 },
  { name: "Count", priority: 1 },
  { ...nameColumn, priority: 1 },
];

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

const common = {
  version: "v1",
  name: "events",
  singular: "event",
  kind: "Event",
  namespaced: true,
  shortNames: ["ev"],
  subresources: [],
  columns,
  row,
} as const;

const strategy: Strategy<Event> = { allowCreateOnUpdate: true, allowUnconditionalUpdate: true };

export const coreEvents: Resource<Event> = {
  ...common,
  group: "",
  type: "core.v1.Event",
  nameRule: pathSegment,
  anyFinalizer: true,
  strategy: {
    ...strategy,
    validate: (event) => validateLegacy(event, "reportingComponent"),
    validateUpdate: (event) => validateLegacy(event, "reportingComponent"),
  },
  selectableFields: [
    ...involved.map((field) => `involvedObject.${field}`),
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  fieldsOf: (event) => selectable(event, "involvedObject", "reportingComponent"),
};

export const events: Resource<Event> = {
  ...common,
  group: "events.k8s.io",
  type: "events.v1.Event",
  nameRule: pathSegment,
  anyFinalizer: true,
  strategy: { ...strategy, validate: validateNew, validateUpdate },
  view: { storedAs: { group: "", resource: "events" }, storedType: "core.v1.Event", toStored, fromStored },
  selectableFields: [...involved.map((field) => `regarding.${field}`), "reason", "reportingController", "type"],
  fieldsOf: (event) => selectable(event, "regarding", "reportingController"),
};

function selectable(event: Event, object: string, controller: string): Record<string, string> {
  const fields = Object.fromEntries(
    involved.map((field) => [`${object}.${field}`, event.involvedObject[field] ?? ""] as const),
  );
  return {
    ...fields,
    reason: event.reason ?? "",
    type: event.type ?? "",
    [controller]: event.reportingComponent,
    source: event.source.component ?? event.reportingComponent,
  };
}

/** Names of fields that differ: events.k8s.io/v1 on the left, core/v1 on the right. */
const renamed = [
  ["note", "message"],
  ["regarding", "involvedObject"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
] as const;

function toStored(object: JsonObject): JsonObject {
  return rename(object, new Map(renamed));
}

function fromStored(object: JsonObject): JsonObject {
  return rename(object, new Map(renamed.map(([ours, theirs]) => [theirs, ours] as const)));
}

function rename(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]));
}

function validateNew(event: Event): readonly FieldError[] {
  const unset = (field: string): FieldError => invalidValue(field, "", "needs to be unset");
  const type = event.type ?? "";
  return [
    ...validateLegacy(event, "reportingController"),
    ...validateSeries(event),
    ...(event.eventTime === null ? [required("eventTime")] : []),
    ...(type === "Normal" || type === "Warning" ? [] : [invalidValue("type", "", `has invalid value: ${type}`)]),
    ...(event.firstTimestamp === null ? [] : [unset("firstTimestamp")]),
    ...(event.lastTimestamp === null ? [] : [unset("lastTimestamp")]),
    ...((event.count ?? 0) === 0 ? [] : [unset("count")]),
    ...(event.source.component === undefined && event.source.host === undefined ? [] : [unset("source")]),
  ];
}

function validateUpdate(event: Event, old: Event): readonly FieldError[] {
  const fixed = [
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
  ] as const;
  const changed = JSON.stringify(event.series) !== JSON.stringify(old.series);
  return [
    ...validateLegacy(event, "reportingController"),
    ...(changed ? validateSeries(event) : []),
    ...fixed.flatMap((field) => validateImmutable(field, event[field], old[field])),
    ...validateImmutable("reportingController", event.reportingComponent, old.reportingComponent),
    ...validateImmutable("reportingInstance", event.reportingInstance, old.reportingInstance),
  ];
}

function validateSeries({ series }: Event): readonly FieldError[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalidValue("series.count", "", "should be at least 2")] : []),
    ...((series.lastObservedTime ?? null) === null ? [required("series.lastObservedTime")] : []),
  ];
}

/** Rules of both versions; an event with eventTime has to be complete. */
function validateLegacy(event: Event, controllerField: string): readonly FieldError[] {
  const namespace = event.metadata.namespace ?? "";
  const about = event.involvedObject.namespace ?? "";
  const mismatch = invalidValue("involvedObject.namespace", about, "does not match event.namespace");
  const errors = validateText("namespace", namespace, dnsSubdomain);
  if (event.eventTime === null) {
    const agrees = about === "" ? namespace === "default" || namespace === "" : namespace === about;
    return agrees ? errors : [mismatch, ...errors];
  }
  const outside = about === "" && namespace !== "default" && namespace !== "kube-system";
  return [...(outside ? [mismatch] : []), ...validateComplete(event, controllerField), ...errors];
}

function validateComplete(event: Event, controllerField: string): readonly FieldError[] {
  return [
    ...(event.reportingComponent === "" ? [required(controllerField)] : []),
    ...validateText(controllerField, event.reportingComponent, qualifiedName),
    ...validateLength("reportingInstance", event.reportingInstance),
    ...validateLength("action", event.action ?? ""),
    ...validateLength("reason", event.reason ?? ""),
    ...((event.message ?? "").length > noteLengthLimit
      ? [invalidValue("message", "", `can have at most ${noteLengthLimit} characters`)]
      : []),
  ];
}

function validateLength(field: string, value: string): readonly FieldError[] {
  if (value === "") return [required(field)];
  return value.length > lengthLimit ? [invalidValue(field, "", `can have at most ${lengthLimit} characters`)] : [];
}

function row(event: Event, nowMs: number): readonly Cell[] {
  const { involvedObject, series } = event;
  const first = since(event.firstTimestamp ?? event.eventTime, nowMs);
  const last = event.lastTimestamp === null ? first : since(event.lastTimestamp, nowMs);
  return [
    series === undefined ? last : since(series.lastObservedTime, nowMs),
    event.type ?? "",
    event.reason ?? "",
    targetText(event),
    involvedObject.fieldPath ?? "",
    sourceText(event),
    (event.message ?? "").trim(),
    first,
    // An event written once has no count in the new API.
    series === undefined ? event.count || 1 : (series.count ?? 0),
    nameOf(event),
  ];
}

function targetText({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? "").toLowerCase();
  return involvedObject.name === undefined ? kind : `${kind}/${involvedObject.name}`;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source.component ?? reportingComponent;
  const host = source.host ?? reportingInstance;
  return host === "" ? component : `${component}, ${host}`;
}
