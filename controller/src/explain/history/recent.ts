import type { CallRecord, TimelineEntry, ObjectRef } from "@cloudwire/operator-api";
import type { StoredEntry } from "./timeline.ts";
import type { ObjectCall } from "./call-journal.ts";
import { iso } from "../../util/text.ts";

/** Happenings of one object, calls included. */
const TIMELINE_LIMIT = 40;

/** Reads are asked all the time; they are news when they fail. */
const READS = /^(?:BatchGet|Get|List|Watch)/;

export function shownCall(call: ObjectCall): CallRecord {
  const { startMs, provider, method, durationMs, code, reason, message, cloudRequestIds, objectCount } = call;
  return {
    time: iso(startMs),
    provider,
    method,
    durationMs: Math.round(durationMs),
    code,
    ...(reason === "" ? {} : { reason }),
    ...(message === "" ? {} : { message }),
    cloudRequestIds,
    objectCount,
  };
}

/** What happened to an object, newest first: what is remembered of it, its calls that changed something or failed, and its creation. */
export function shownTimeline(
  remembered: readonly StoredEntry[],
  calls: readonly ObjectCall[],
  createdMs: number | undefined,
): readonly TimelineEntry[] {
  const isKnown = remembered.some(({ reason }) => reason === "Created" || reason === "Recreated");
  const all = [
    ...remembered.map((one) => ({ atMs: one.atMs, happening: shown(one) })),
    ...calls.filter(isNews).map((call) => ({ atMs: call.startMs, happening: callEntry(call) })),
    ...(createdMs === undefined || isKnown ? [] : [{ atMs: createdMs, happening: created(createdMs) }]),
  ];
  return all
    .toSorted((left, right) => right.atMs - left.atMs)
    .slice(0, TIMELINE_LIMIT)
    .map(({ happening }) => happening);
}

function isNews({ method, code }: ObjectCall): boolean {
  return code !== "OK" || !READS.test(method);
}

function shown({ atMs, kind, source, reason, message, isWarning, count }: StoredEntry): TimelineEntry {
  const times = count === 1 ? {} : { count };
  return { time: iso(atMs), kind, ...(source === undefined ? {} : { source }), reason, message, isWarning, ...times };
}

function callEntry({ startMs, provider, method, durationMs, code, reason, message }: ObjectCall): TimelineEntry {
  const isFailed = code !== "OK";
  const took = `${Math.round(durationMs)} ms`;
  const text = isFailed ? `${method} failed after ${took}: ${message}` : `${method} took ${took}.`;
  return {
    time: iso(startMs),
    kind: "call",
    source: provider,
    reason: isFailed && reason !== "" ? reason : code,
    message: text,
    isWarning: isFailed,
  };
}

function created(atMs: number): TimelineEntry {
  return { time: iso(atMs), kind: "object", reason: "Created", message: "Made in the cluster.", isWarning: false };
}

/** When an object that is remembered was last heard of; undefined: it is not. */
export function lastHeard(object: ObjectRef, remembered: readonly StoredEntry[]): string | undefined {
  const [last] = remembered;
  return last === undefined ? undefined : `${object} is not in the cluster any more; the last of it: ${last.message}`;
}
