import type { CallRecord, TimelineEntry, ObjectRef } from "@cloudwire/operator-api";
import type { StoredEntry } from "./timeline.ts";
import type { ObjectCall } from "./call-journal.ts";
import { iso } from "../../util/text.ts";

/** Entries per object, calls included. */
const TIMELINE_LIMIT = 40;

/** Frequent calls, which are shown only if they fail. */
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

/** Newest first: the stored entries, calls that changed something or failed, and the creation. */
export function shownTimeline(
  remembered: readonly StoredEntry[],
  calls: readonly ObjectCall[],
  createdMs: number | undefined,
): readonly TimelineEntry[] {
  const isKnown = remembered.some(({ reason }) => reason === "Created" || reason === "Recreated");
  const all = [
    ...remembered.map((one) => ({ atMs: one.atMs, entry: shown(one) })),
    ...calls.filter(isShown).map((call) => ({ atMs: call.startMs, entry: callEntry(call) })),
    ...(createdMs === undefined || isKnown ? [] : [{ atMs: createdMs, entry: created(createdMs) }]),
  ];
  return all
    .toSorted((left, right) => right.atMs - left.atMs)
    .slice(0, TIMELINE_LIMIT)
    .map(({ entry }) => entry);
}

function isShown({ method, code }: ObjectCall): boolean {
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
  return { time: iso(atMs), kind: "object", reason: "Created", message: "Created in the cluster.", isWarning: false };
}

/** undefined: no history. */
export function lastHeard(object: ObjectRef, remembered: readonly StoredEntry[]): string | undefined {
  const [last] = remembered;
  return last === undefined ? undefined : `${object} no longer exists in the cluster; its last entry: ${last.message}`;
}
