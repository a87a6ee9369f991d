import {
  type DeletionCircuitBreaker,
  type CallBudgetStatus,
  OBJECT_KINDS,
  type Overview,
  type ProviderSummary,
  STATES,
} from "@cloudwire/operator-api";
import { hanging, table } from "../terminal/layout.ts";
import { clockText } from "../terminal/time-text.ts";
import { type Style, causeLines, cell, heading, stateCell } from "./style.ts";
import { replicaLines } from "./explanation.ts";

/** The overall status. */
export function renderOverview(overview: Overview, style: Style): string {
  const { cluster, observing, alarms, providers, replica, time } = overview;
  const { paint, columns } = style;
  const lines = [
    `${paint.bold(`cluster ${cluster}`)}${observing ? paint.yellow("  observe mode: see `plan`") : ""}`,
    ...(alarms.length === 0 ? [paint.green("No alarms.")] : heading("Alarms", style)),
    ...alarms.flatMap((alarm) => causeLines(alarm, style, alarm.object)),
    ...heading("Objects", style),
    ...countLines(overview, style),
    ...heading("Controllers", style),
    ...controllerLines(overview, style),
    ...heading("Providers", style),
    ...(providers.length === 0 ? ["  none"] : providers.flatMap((provider) => providerLines(provider, style))),
    "",
    ...replicaLines(replica, time, { paint, columns }),
  ];
  return `${lines.join("\n")}\n`;
}

function countLines({ counts }: Overview, style: Style): readonly string[] {
  const head = [cell(""), ...STATES.map((state) => ({ ...stateCell(state, style), text: state }))];
  const rows = OBJECT_KINDS.map((kind) => [
    cell(kind),
    ...STATES.map((state) => {
      const count = counts[kind][state];
      return count === 0 ? { text: "0", paint: style.paint.dim } : { ...stateCell(state, style), text: String(count) };
    }),
  ]);
  const hasProblems = OBJECT_KINDS.some((kind) => counts[kind].waiting + counts[kind].blocked > 0);
  return [
    ...table([head, ...rows], { columns: undefined, indent: 2, right: STATES.map((_, index) => index + 1) }),
    ...(hasProblems ? [style.paint.dim("  to see the causes: `list --state waiting,blocked`")] : []),
  ];
}

function controllerLines({ controllers }: Overview, { paint }: Style): readonly string[] {
  const head = ["name", "state", "queued", "processing", "delayed", "failing"].map((text) => ({
    text,
    paint: paint.dim,
  }));
  const rows = controllers.map(({ name, state, queued, processing, delayed, failing }) => [
    cell(name),
    cell(state),
    ...[queued, processing, delayed].map((count) => cell(String(count))),
    failing === 0 ? cell("0") : { text: String(failing), paint: paint.red },
  ]);
  return table([head, ...rows], { columns: undefined, indent: 2, right: [2, 3, 4, 5] });
}

function providerLines(provider: ProviderSummary, { paint, columns }: Style): readonly string[] {
  const {
    name,
    address,
    connection,
    ready,
    reasons,
    version,
    calls,
    failedCalls,
    inFlight,
    budgets,
    deletionCircuitBreaker,
  } = provider;
  const readiness = ready ? paint.green("ready") : paint.red("not ready");
  const release = version === undefined ? "" : `, version ${version}`;
  return [
    `  ${paint.bold(name)}  ${readiness}, connection ${connection}, ${address}${release}`,
    `    ${calls} calls, ${failedCalls} failed, ${inFlight} in flight`,
    ...reasons.map((reason) => hanging("    ", reason, columns)),
    ...budgets.map((budget) => hanging("    ", budgetText(budget), columns)),
    ...(deletionCircuitBreaker?.open === true
      ? [paint.red(hanging("    ", circuitBreakerText(deletionCircuitBreaker), columns))]
      : []),
  ];
}

function circuitBreakerText({ absentNodes, message }: DeletionCircuitBreaker): string {
  return `deletion circuit breaker open: ${message ?? `the instances of ${absentNodes} Nodes are reported as deleted`}`;
}

function budgetText({
  quotaClass,
  cloudCallsPerSecond,
  tokens,
  queuedCalls,
  throttledUntilTime,
}: CallBudgetStatus): string {
  const parts = [
    cloudCallsPerSecond === undefined ? "no limit" : `${cloudCallsPerSecond} calls/s`,
    tokens === undefined ? "" : `${Math.floor(tokens)} left`,
    queuedCalls === 0 ? "" : `${queuedCalls} queued`,
    throttledUntilTime === undefined ? "" : `throttled until ${clockText(throttledUntilTime)}`,
  ];
  return `budget ${quotaClass}: ${parts.filter((part) => part !== "").join(", ")}`;
}
