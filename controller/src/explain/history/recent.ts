import type { CallRecord, Happening, ObjectRef } from "@cloudwire/operator-api";
import type { Remembered } from "./timeline.ts";
import type { ObjectCall } from "./call-journal.ts";
import { iso } from "../../util/text.ts";

/** Happenings of one object, calls included. */
const HAPPENINGS = 40;

/** Reads are asked all the time; they are news when they fail. */
const READS = /^(?:BatchGet|Get|List|Watch)/;

export function shownCall(call: ObjectCall): CallRecord {
  const { startMs, provider, rpc, durationMs, code, reason, message, cloudRequestIds, objects } = call;
  return {
    at: iso(startMs),
    provider,
    rpc,
    durationMs: Math.round(durationMs),
    code,
    ...(reason === "" ? {} : { reason }),
    ...(message === "" ? {} : { message }),
    cloudRequestIds,
    objects,
  };
}

/** What happened to an object, newest first: what is remembered of it, its calls that changed something or failed, and its creation. */
export function shownTimeline(
  remembered: readonly Remembered[],
  calls: readonly ObjectCall[],
  createdMs: number | undefined,
): readonly Happening[] {
  const isKnown = remembered.some(({ reason }) => reason === "Created" || reason === "Recreated");
  const all = [
    ...remembered.map((one) => ({ atMs: one.atMs, happening: shown(one) })),
    ...calls.filter(isNews).map((call) => ({ atMs: call.startMs, happening: callHappening(call) })),
    ...(createdMs === undefined || isKnown ? [] : [{ atMs: createdMs, happening: created(createdMs) }]),
  ];
  return all
    .toSorted((left, right) => right.atMs - left.atMs)
    .slice(0, HAPPENINGS)
    .map(({ happening }) => happening);
}

function isNews({ rpc, code }: ObjectCall): boolean {
  return code !== "OK" || !READS.test(rpc);
}

function shown({ atMs, kind, by, reason, message, isWarning, count }: Remembered): Happening {
  const times = count === 1 ? {} : { count };
  return { at: iso(atMs), kind, ...(by === undefined ? {} : { by }), reason, message, isWarning, ...times };
}

function callHappening({ startMs, provider, rpc, durationMs, code, reason, message }: ObjectCall): Happening {
  const isFailed = code !== "OK";
  const took = `${Math.round(durationMs)} ms`;
  const text = isFailed ? `${rpc} failed after ${took}: ${message}` : `${rpc} took ${took}.`;
  return {
    at: iso(startMs),
    kind: "call",
    by: provider,
    reason: isFailed && reason !== "" ? reason : code,
    message: text,
    isWarning: isFailed,
  };
}

function created(atMs: number): Happening {
  return { at: iso(atMs), kind: "object", reason: "Created", message: "Made in the cluster.", isWarning: false };
}

/** When an object that is remembered was last heard of; undefined: it is not. */
export function lastHeard(object: ObjectRef, remembered: readonly Remembered[]): string | undefined {
  const [last] = remembered;
  return last === undefined ? undefined : `${object} is not in the cluster any more; the last of it: ${last.message}`;
}
