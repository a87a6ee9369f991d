import type {
  CallRecord,
  ControllerStatus,
  Explanation,
  TimelineEntry,
  ProviderStatus,
  QueuePosition,
  Replica,
  DesiredItem,
} from "@cloudwire/operator-api";
import { hanging, table, wrap } from "../terminal/layout.ts";
import { agoText, clockText, durationText } from "../terminal/time-text.ts";
import { type Style, causeLines, cell, heading, stateCell } from "./style.ts";

/** The explanation of one object. */
export function renderExplanation(explanation: Explanation, style: Style): string {
  const { object, exists, state, summary, causes, nextRetry, desired, facts, controllers, provider, calls, timeline } =
    explanation;
  const { paint, columns } = style;
  const shown = stateCell(state, style);
  const lines = [
    `${paint.bold(object)}  ${shown.paint?.(shown.text) ?? shown.text}${exists ? "" : "  (not in the cluster)"}`,
    ...(summary === causes[0]?.message ? [] : wrap(summary, columns)),
    ...(causes.length === 0 ? [] : heading("Causes", style)),
    ...causes.flatMap((cause) => causeLines(cause, style)),
    ...nextRetryLines(nextRetry, style),
    ...section(
      "Desired state",
      desired.map((item) => desiredCells(item, style)),
      style,
    ),
    ...section(
      "Details",
      facts.map(({ name, value }) => [cell(name), cell(value)]),
      style,
    ),
    ...section(
      "Controllers",
      controllers.map((one) => controllerCells(one, explanation.time)),
      style,
    ),
    ...(provider === undefined ? [] : [...heading("Provider", style), ...providerLines(provider, style)]),
    ...section(
      "Recent provider calls",
      calls.map((call) => callCells(call, explanation.time, style)),
      style,
    ),
    ...section(
      "Timeline",
      timeline.map((one) => timelineCells(one, explanation.time, style)),
      style,
    ),
    "",
    ...replicaLines(explanation.replica, explanation.time, style),
  ];
  return `${lines.join("\n")}\n`;
}

/** The replica that responded, and when. */
export function replicaLines(
  { identity, isLeader, leaderIdentity, version }: Replica,
  at: string,
  { paint, columns }: Style,
): readonly string[] {
  const role = isLeader
    ? "leader"
    : `standby; ${leaderIdentity === undefined ? "" : `leader ${leaderIdentity}; `}only the leader knows the reconcile state`;
  return wrap(`Reported by ${identity} (${role}), version ${version}, at ${clockText(at)}.`, columns).map(paint.dim);
}

function section(
  title: string,
  rows: readonly (readonly { readonly text: string }[])[],
  style: Style,
): readonly string[] {
  if (rows.length === 0) return [];
  return [...heading(title, style), ...table(rows, { columns: style.columns, indent: 2 })];
}

function nextRetryLines(nextTry: Explanation["nextRetry"], { columns, paint }: Style): readonly string[] {
  if (nextTry === undefined) return [];
  const { time, inMs, message } = nextTry;
  const when = inMs <= 0 ? "now" : `in ${durationText(inMs)}`;
  return [
    "",
    hanging("Next retry  ", `${when} (${clockText(time)}): ${message}`, columns).replace("Next retry", paint.bold),
  ];
}

function desiredCells({ description, state, message }: DesiredItem, { paint }: Style) {
  const paints = { met: paint.green, pending: paint.yellow, unmet: paint.red };
  return [
    { text: state, paint: paints[state] },
    cell(message === undefined ? description : `${description}: ${message}`),
  ];
}

function controllerCells({ controller, key, queue, failures, last }: ControllerStatus, at: string) {
  const failed = failures === 0 ? "" : `, failed ${failures === 1 ? "once" : `${failures} times in a row`}`;
  const error =
    last?.error === undefined
      ? ""
      : `: ${last.error.code === undefined ? "" : `${last.error.code}, `}${last.error.message}`;
  const ended =
    last === undefined
      ? ""
      : `; last ${last.outcome} ${agoText(last.endTime, at)} in ${durationText(last.durationMs)}, reconcile ${last.reconcileID}${error}`;
  return [cell(controller), cell(key), cell(`${queueText(queue)}${failed}${ended}`)];
}

function queueText(queue: QueuePosition): string {
  switch (queue.kind) {
    case "idle":
      return "idle";
    case "queued":
      return `queued${queue.ahead === undefined ? "" : ` (at most ${queue.ahead} ahead)`}, priority ${queue.priority}`;
    case "delayed":
      return `retrying in ${durationText(Math.max(0, queue.inMs))}`;
    case "processing":
      return `processing for ${durationText(queue.processingMs)}`;
    case "notRunning":
      return `not running here: ${queue.message}`;
    default:
      return queue satisfies never;
  }
}

function providerLines(
  { name, connection, ready, reasons, absenceIgnored, throttled }: ProviderStatus,
  style: Style,
): readonly string[] {
  const { paint, columns } = style;
  const readiness = ready ? paint.green("ready") : paint.red("not ready");
  return [
    `  ${name}  ${readiness}, connection ${connection}`,
    ...reasons.map((reason) => hanging("  ", reason, columns)),
    ...(absenceIgnored === undefined
      ? []
      : [hanging("  ", `absence reports are currently ignored: ${absenceIgnored}`, columns)]),
    ...throttled.map(
      ({ quotaClass, untilTime }) => `  calls of quota class ${quotaClass} are throttled until ${clockText(untilTime)}`,
    ),
  ];
}

function callCells(
  { time, provider, method, durationMs, code, reason, message, cloudRequestIds, objectCount }: CallRecord,
  at: string,
  { paint }: Style,
) {
  const parts = [
    `${provider === undefined ? "" : `to ${provider}, `}${durationText(durationMs)}`,
    objectCount > 1 ? `in a batch of ${objectCount}` : "",
    reason ?? "",
    message ?? "",
    cloudRequestIds.length === 0 ? "" : `request ${cloudRequestIds.join(", ")}`,
  ];
  return [
    { text: agoText(time, at), paint: paint.dim },
    cell(method),
    { text: code, paint: code === "OK" ? paint.green : paint.red },
    cell(parts.filter((part) => part !== "").join(", ")),
  ];
}

function timelineCells(entry: TimelineEntry, at: string, { paint }: Style) {
  const { time, kind, source, reason, message, isWarning, count = 1 } = entry;
  const about = [...(source === undefined ? [] : [source]), ...(count > 1 ? [`${count} times`] : [])].join(", ");
  return [
    { text: agoText(time, at), paint: paint.dim },
    cell(kind),
    isWarning ? { text: reason, paint: paint.yellow } : cell(reason),
    cell(about === "" ? message : `${message} (${about})`),
  ];
}
