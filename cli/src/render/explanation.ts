import type {
  CallRecord,
  ControllerWork,
  Explanation,
  Happening,
  ProviderStanding,
  QueuePosition,
  Replica,
  Wish,
} from "@cloudwire/operator-api";
import { hanging, table, wrap } from "../terminal/layout.ts";
import { agoText, clockText, durationText } from "../terminal/time-text.ts";
import { type Style, causeLines, cell, heading, stateCell } from "./style.ts";

/** Everything that is known of one object, for people. */
export function renderExplanation(explanation: Explanation, style: Style): string {
  const { object, exists, state, summary, causes, nextTry, wishes, facts, work, provider, calls, timeline } =
    explanation;
  const { paint, columns } = style;
  const shown = stateCell(state, style);
  const lines = [
    `${paint.bold(object)}  ${shown.paint?.(shown.text) ?? shown.text}${exists ? "" : "  (not in the cluster)"}`,
    ...(summary === causes[0]?.message ? [] : wrap(summary, columns)),
    ...(causes.length === 0 ? [] : heading("What stands in the way", style)),
    ...causes.flatMap((cause) => causeLines(cause, style)),
    ...nextTryLines(nextTry, style),
    ...section(
      "Wishes",
      wishes.map((wish) => wishCells(wish, style)),
      style,
    ),
    ...section(
      "Facts",
      facts.map(({ name, value }) => [cell(name), cell(value)]),
      style,
    ),
    ...section(
      "Controllers",
      work.map((one) => workCells(one, explanation.at)),
      style,
    ),
    ...(provider === undefined ? [] : [...heading("Provider", style), ...providerLines(provider, style)]),
    ...section(
      "Last calls",
      calls.map((call) => callCells(call, explanation.at, style)),
      style,
    ),
    ...section(
      "What happened",
      timeline.map((one) => happeningCells(one, explanation.at, style)),
      style,
    ),
    "",
    ...replicaLines(explanation.replica, explanation.at, style),
  ];
  return `${lines.join("\n")}\n`;
}

/** Who says it, and when. */
export function replicaLines(
  { identity, leads, leader, version }: Replica,
  at: string,
  { paint, columns }: Style,
): readonly string[] {
  const role = leads
    ? "which leads"
    : `which does not lead${leader === undefined ? "" : ` (${leader} does)`}, and does not know what is done`;
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

function nextTryLines(nextTry: Explanation["nextTry"], { columns, paint }: Style): readonly string[] {
  if (nextTry === undefined) return [];
  const { at, inMs, why } = nextTry;
  const when = inMs <= 0 ? "now" : `in ${durationText(inMs)}`;
  return ["", hanging("Next try  ", `${when} (${clockText(at)}): ${why}`, columns).replace("Next try", paint.bold)];
}

function wishCells({ what, state, detail }: Wish, { paint }: Style) {
  const paints = { met: paint.green, pending: paint.yellow, unmet: paint.red };
  return [{ text: state, paint: paints[state] }, cell(detail === undefined ? what : `${what}: ${detail}`)];
}

function workCells({ controller, key, queue, failures, last }: ControllerWork, at: string) {
  const failed = failures === 0 ? "" : `, failed ${failures === 1 ? "once" : `${failures} times`} in a row`;
  const error =
    last?.error === undefined
      ? ""
      : `: ${last.error.code === undefined ? "" : `${last.error.code}, `}${last.error.message}`;
  const ended =
    last === undefined
      ? ""
      : `; last ${last.outcome} ${agoText(last.end, at)} in ${durationText(last.durationMs)}, reconcile ${last.reconcileId}${error}`;
  return [cell(controller), cell(key), cell(`${queueText(queue)}${failed}${ended}`)];
}

function queueText(queue: QueuePosition): string {
  switch (queue.kind) {
    case "idle":
      return "nothing to do until something changes";
    case "waiting":
      return `in line${queue.ahead === undefined ? "" : ` behind ${queue.ahead} at most`}, priority ${queue.priority}`;
    case "delayed":
      return `again in ${durationText(Math.max(0, queue.inMs))}`;
    case "working":
      return `in work for ${durationText(queue.forMs)}`;
    case "notRunning":
      return `does not run here: ${queue.why}`;
    default:
      return queue satisfies never;
  }
}

function providerLines(
  { name, connection, ready, reasons, doubt, held }: ProviderStanding,
  style: Style,
): readonly string[] {
  const { paint, columns } = style;
  const standing = ready ? paint.green("ready") : paint.red("not ready");
  return [
    `  ${name}  ${standing}, connection ${connection}`,
    ...reasons.map((reason) => hanging("  ", reason, columns)),
    ...(doubt === undefined
      ? []
      : [hanging("  ", `its word that a machine is gone is not taken now: ${doubt}`, columns)]),
    ...held.map(({ quotaClass, until }) => `  calls of class ${quotaClass} are held back until ${clockText(until)}`),
  ];
}

function callCells(
  { at: time, provider, rpc, durationMs, code, reason, message, cloudRequestIds, objects }: CallRecord,
  at: string,
  { paint }: Style,
) {
  const parts = [
    `${provider === undefined ? "" : `to ${provider}, `}${durationText(durationMs)}`,
    objects > 1 ? `together with ${objects - 1} more` : "",
    reason ?? "",
    message ?? "",
    cloudRequestIds.length === 0 ? "" : `request ${cloudRequestIds.join(", ")}`,
  ];
  return [
    { text: agoText(time, at), paint: paint.dim },
    cell(rpc),
    { text: code, paint: code === "OK" ? paint.green : paint.red },
    cell(parts.filter((part) => part !== "").join(", ")),
  ];
}

function happeningCells(happening: Happening, at: string, { paint }: Style) {
  const { at: time, kind, by, reason, message, isWarning, count = 1 } = happening;
  const about = [...(by === undefined ? [] : [by]), ...(count > 1 ? [`${count} times`] : [])].join(", ");
  return [
    { text: agoText(time, at), paint: paint.dim },
    cell(kind),
    isWarning ? { text: reason, paint: paint.yellow } : cell(reason),
    cell(about === "" ? message : `${message} (${about})`),
  ];
}
