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

/** Everything that is known of one object, for people. */
export function renderExplanation(explanation: Explanation, style: Style): string {
  const { object, exists, state, summary, causes, nextRetry, desired, facts, controllers, provider, calls, timeline } =
    explanation;
  const { paint, columns } = style;
  const shown = stateCell(state, style);
  const lines = [
    `${paint.bold(object)}  ${shown.paint?.(shown.text) ?? shown.text}${exists ? "" : "  (not in the cluster)"}`,
    ...(summary === causes[0]?.message ? [] : wrap(summary, columns)),
    ...(causes.length === 0 ? [] : heading("What stands in the way", style)),
    ...causes.flatMap((cause) => causeLines(cause, style)),
    ...nextTryLines(nextRetry, style),
    ...section(
      "Wishes",
      desired.map((wish) => wishCells(wish, style)),
      style,
    ),
    ...section(
      "Facts",
      facts.map(({ name, value }) => [cell(name), cell(value)]),
      style,
    ),
    ...section(
      "Controllers",
      controllers.map((one) => workCells(one, explanation.time)),
      style,
    ),
    ...(provider === undefined ? [] : [...heading("Provider", style), ...providerLines(provider, style)]),
    ...section(
      "Last calls",
      calls.map((call) => callCells(call, explanation.time, style)),
      style,
    ),
    ...section(
      "What happened",
      timeline.map((one) => happeningCells(one, explanation.time, style)),
      style,
    ),
    "",
    ...replicaLines(explanation.replica, explanation.time, style),
  ];
  return `${lines.join("\n")}\n`;
}

/** Who says it, and when. */
export function replicaLines(
  { identity, isLeader, leaderIdentity, version }: Replica,
  at: string,
  { paint, columns }: Style,
): readonly string[] {
  const role = isLeader
    ? "which leads"
    : `which does not lead${leaderIdentity === undefined ? "" : ` (${leaderIdentity} does)`}, and does not know what is done`;
  return wrap(`Told by ${identity}, ${role}, version ${version}, at ${clockText(at)}.`, columns).map(paint.dim);
}

function section(
  title: string,
  rows: readonly (readonly { readonly text: string }[])[],
  style: Style,
): readonly string[] {
  if (rows.length === 0) return [];
  return [...heading(title, style), ...table(rows, { columns: style.columns, indent: 2 })];
}

function nextTryLines(nextTry: Explanation["nextRetry"], { columns, paint }: Style): readonly string[] {
  if (nextTry === undefined) return [];
  const { time, inMs, message } = nextTry;
  const when = inMs <= 0 ? "now" : `in ${durationText(inMs)}`;
  return [
    "",
    hanging("Next try  ", `${when} (${clockText(time)}): ${message}`, columns).replace("Next try", paint.bold),
  ];
}

function wishCells({ description, state, message }: DesiredItem, { paint }: Style) {
  const paints = { met: paint.green, pending: paint.yellow, unmet: paint.red };
  return [
    { text: state, paint: paints[state] },
    cell(message === undefined ? description : `${description}: ${message}`),
  ];
}

function workCells({ controller, key, queue, failures, last }: ControllerStatus, at: string) {
  const failed = failures === 0 ? "" : `, failed ${failures === 1 ? "once" : `${failures} times`} in a row`;
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
      return "nothing to do until something changes";
    case "queued":
      return `in line${queue.ahead === undefined ? "" : ` behind ${queue.ahead} at most`}, priority ${queue.priority}`;
    case "delayed":
      return `again in ${durationText(Math.max(0, queue.inMs))}`;
    case "processing":
      return `in work for ${durationText(queue.processingMs)}`;
    case "notRunning":
      return `does not run here: ${queue.message}`;
    default:
      return queue satisfies never;
  }
}

function providerLines(
  { name, connection, ready, reasons, absenceIgnored, throttled }: ProviderStatus,
  style: Style,
): readonly string[] {
  const { paint, columns } = style;
  const standing = ready ? paint.green("ready") : paint.red("not ready");
  return [
    `  ${name}  ${standing}, connection ${connection}`,
    ...reasons.map((reason) => hanging("  ", reason, columns)),
    ...(absenceIgnored === undefined
      ? []
      : [hanging("  ", `its word that a machine is gone is not taken now: ${absenceIgnored}`, columns)]),
    ...throttled.map(
      ({ quotaClass, untilTime }) => `  calls of class ${quotaClass} are held back until ${clockText(untilTime)}`,
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
    objectCount > 1 ? `together with ${objectCount - 1} more` : "",
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

function happeningCells(happening: TimelineEntry, at: string, { paint }: Style) {
  const { time, kind, source, reason, message, isWarning, count = 1 } = happening;
  const about = [...(source === undefined ? [] : [source]), ...(count > 1 ? [`${count} times`] : [])].join(", ");
  return [
    { text: agoText(time, at), paint: paint.dim },
    cell(kind),
    isWarning ? { text: reason, paint: paint.yellow } : cell(reason),
    cell(about === "" ? message : `${message} (${about})`),
  ];
}
