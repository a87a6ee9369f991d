import type { ControllerStatus, NextRetry, QueuePosition, ReconcileResult } from "@cloudwire/operator-api";
import type { ReconcileRecord } from "../runtime/history.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { messageOf } from "../util/errors.ts";
import { iso } from "../util/text.ts";
import type { Workqueue } from "../workqueue/queue.ts";
import { NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import type { Worker } from "./objects.ts";
import { cause, type KnownCause } from "./reasons/reasons.ts";

/** Where a key is in one controller; `supervised` is undefined where --controllers does not name that controller. */
export function controllerStatus(
  { controller, key }: Worker,
  supervised: SupervisedController | undefined,
  nowMs: number,
): ControllerStatus {
  const current = supervised?.current;
  if (current === undefined) {
    return { controller, key, queue: { kind: "notRunning", message: whyNotRunning(supervised) }, failures: 0 };
  }
  const last = current.last(key);
  return {
    controller,
    key,
    queue: position(current.queue, key, nowMs),
    failures: current.queue.failures(key),
    ...(last === undefined ? {} : { last: reconcileResult(last) }),
  };
}

function whyNotRunning(supervised: SupervisedController | undefined): string {
  if (supervised === undefined) return "it is not turned on (--controllers)";
  const { state } = supervised;
  switch (state.kind) {
    case "idle":
      return "another replica leads";
    case "off":
      return "the options leave nothing for it to do";
    case "restarting":
      return `it broke, and a fresh one starts at ${iso(state.atMs)}: ${messageOf(state.error)}`;
    case "running":
      return "it starts";
    default:
      return state satisfies never;
  }
}

/** What a controller that is on still has to be told. */
const WANTS: Readonly<Record<string, string>> = {
  [NODE_ROUTE_CONTROLLER]: "If it is to make routes, set --configure-cloud-routes and --cluster-cidr.",
};

/** What is wrong with the controller itself; undefined: nothing, or another replica's does it. */
export function controllerCause(
  controller: string,
  supervised: SupervisedController | undefined,
): KnownCause | undefined {
  if (supervised === undefined) return cause("ControllerDisabled", `${controller} is not turned on (--controllers)`);
  const { state } = supervised;
  if (state.kind === "off")
    return cause("ControllerDisabled", `${controller}: the options leave nothing for it to do`, WANTS[controller]);
  if (state.kind !== "restarting") return undefined;
  return cause(
    "ControllerRestarting",
    `${controller} broke, and a fresh one starts at ${iso(state.atMs)}: ${messageOf(state.error)}`,
  );
}

function position(queue: Workqueue, key: string, nowMs: number): QueuePosition {
  const state = queue.state(key);
  switch (state.kind) {
    case "unknown":
      return { kind: "idle" };
    case "waiting": {
      const ahead = queue.ahead(key);
      return { kind: "queued", priority: state.priority, ...(ahead === undefined ? {} : { ahead }) };
    }
    case "delayed":
      return { kind: "delayed", dueTime: iso(nowMs + state.inMs), inMs: Math.round(state.inMs) };
    case "working":
      return { kind: "processing", processingMs: Math.round(state.forMs) };
    default:
      return state satisfies never;
  }
}

export function reconcileResult({ outcome, endMs, durationMs, reconcileID, error }: ReconcileRecord): ReconcileResult {
  const base = { outcome, endTime: iso(endMs), durationMs: Math.round(durationMs), reconcileID };
  if (error === undefined) return base;
  const { code, message } = error;
  return { ...base, error: { ...(code === undefined ? {} : { code }), message } };
}

/** When something is done next for what has not gone well so far; undefined: not before something changes. */
export function nextRetryOf(work: readonly ControllerStatus[]): NextRetry | undefined {
  const due = work.flatMap((one) => (one.queue.kind === "delayed" ? [{ ...one, queue: one.queue }] : []));
  // One that has failed matters before one that merely comes back from time to time.
  const wanting = due.filter(({ last, failures }) => failures > 0 || last?.error !== undefined);
  const [first] = (wanting.length > 0 ? wanting : due).toSorted((left, right) => left.queue.inMs - right.queue.inMs);
  if (first === undefined) return undefined;
  const { dueTime: time, inMs } = first.queue;
  return { time, inMs, message: `${first.controller}: ${whyLater(first)}` };
}

function whyLater({ failures, last }: ControllerStatus): string {
  const times = failures === 1 ? "1 failure" : `${failures} failures`;
  switch (last?.outcome) {
    case "error":
    case "panic":
      return failures > 0 ? `back-off after ${times}` : "back-off after a failure";
    case "retry_after":
      return "the wait that its last error asks for";
    case "planned":
      return "looks again at what is only planned";
    default:
      return failures > 0 ? `back-off after ${times}` : "looks again";
  }
}
