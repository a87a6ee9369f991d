import type { ControllerStatus, NextRetry, QueuePosition, ReconcileResult } from "@cloudwire/operator-api";
import type { ReconcileRecord } from "../runtime/history.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { messageOf } from "../util/errors.ts";
import { iso } from "../util/text.ts";
import type { Workqueue } from "../workqueue/queue.ts";
import { NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import type { Worker } from "./objects.ts";
import { cause, type KnownCause } from "./reasons/reasons.ts";

/** @param supervised undefined: --controllers does not enable the controller */
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
  if (supervised === undefined) return "disabled (--controllers)";
  const { state } = supervised;
  switch (state.kind) {
    case "idle":
      return "another replica is the leader";
    case "off":
      return NOT_CONFIGURED;
    case "restarting":
      return `restarting at ${iso(state.atMs)} after an internal error: ${messageOf(state.error)}`;
    case "running":
      return "starting";
    default:
      return state satisfies never;
  }
}

const NOT_CONFIGURED = "not configured by the options";

const REQUIRED_OPTIONS: Readonly<Record<string, string>> = {
  [NODE_ROUTE_CONTROLLER]: "To create routes, set --configure-cloud-routes and --cluster-cidr.",
};

/** The problem of the controller itself, if any. */
export function controllerCause(
  controller: string,
  supervised: SupervisedController | undefined,
): KnownCause | undefined {
  const kind = supervised?.state.kind;
  if (kind === "running" || kind === "idle") return undefined;
  const message = `${controller} is ${whyNotRunning(supervised)}`;
  if (kind === "restarting") return cause("ControllerRestarting", message);
  return cause("ControllerDisabled", message, kind === "off" ? REQUIRED_OPTIONS[controller] : undefined);
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

/** undefined: no retry until something changes. */
export function nextRetryOf(controllers: readonly ControllerStatus[]): NextRetry | undefined {
  const due = controllers.flatMap((one) => (one.queue.kind === "delayed" ? [{ ...one, queue: one.queue }] : []));
  // Retries of failures take precedence over periodic reconciles.
  const failed = due.filter(({ last, failures }) => failures > 0 || last?.error !== undefined);
  const [first] = (failed.length > 0 ? failed : due).toSorted((left, right) => left.queue.inMs - right.queue.inMs);
  if (first === undefined) return undefined;
  const { dueTime: time, inMs } = first.queue;
  return { time, inMs, message: `${first.controller}: ${whyLater(first)}` };
}

function whyLater({ failures, last }: ControllerStatus): string {
  if (last?.outcome === "retry_after") return "retry delay of the last error";
  if (last?.outcome === "planned") return "periodic evaluation in observe mode";
  if (failures > 0) return `back-off after ${failures === 1 ? "1 failure" : `${failures} failures`}`;
  return last?.outcome === "error" || last?.outcome === "panic" ? "back-off after a failure" : "periodic reconcile";
}
