import type { Result } from "../suite.ts";
import { idOf, type Classification } from "./compare.ts";

/** A result with what was made of it. */
export interface Row {
  readonly result: Result;
  readonly classification: Classification;
}

const HEAD = ["scenario", "outcome", "rows", "writes", "ours", "cloud calls", "ours"] as const;

/** One line a scenario, and the totals. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const {
      result: { scenario, upstream, ours },
      classification,
    } = row;
    return [
      scenario.name,
      outcomeOf(row),
      explainedBy(classification),
      ...[upstream.writes, ours.writes, upstream.cloudCalls, ours.cloudCalls].map(String),
    ];
  });
  const sum = (number: (result: Result) => number): string =>
    String(rows.reduce((total, { result }) => total + number(result), 0));
  const same = rows.filter((row) => outcomeOf(row) === "same").length;
  const totals = [
    `${rows.length} scenarios`,
    `${same} same`,
    `${new Set(rows.flatMap(({ classification }) => classification.explained.map(({ id }) => id))).size} rows seen`,
    sum(({ upstream }) => upstream.writes),
    sum(({ ours }) => ours.writes),
    sum(({ upstream }) => upstream.cloudCalls),
    sum(({ ours }) => ours.cloudCalls),
  ];
  return layOut([HEAD, ...lines, totals]);
}

/** Why a scenario fails, a line a reason; empty when it does not. */
export function faultsOf(
  { result: { scenario, upstream, ours }, classification }: Row,
  documented: ReadonlySet<string>,
): readonly string[] {
  const failures = [
    ...upstream.failures.map((why) => `upstream: ${why}`),
    ...ours.failures.map((why) => `ours: ${why}`),
  ];
  if (failures.length > 0) return failures;
  return [
    ...classification.unexplained.map(
      ({ place, ...values }) =>
        `no claimed row explains: ${place}: upstream ${values.upstream ?? "has none"}, ours ${values.ours ?? "has none"}`,
    ),
    ...classification.idle.map((id) => `claims ${id}, which shows in nothing`),
    ...scenario.claims
      .map(idOf)
      .filter((id) => !documented.has(id))
      .map((id) => `claims ${id}, which is no row of the differences page`),
  ];
}

function outcomeOf({ result, classification: { explained, unexplained } }: Row): string {
  if (result.upstream.failures.length + result.ours.failures.length > 0) return "FAILED";
  if (unexplained.length > 0) return "UNEXPLAINED";
  return explained.length === 0 ? "same" : "differs";
}

function explainedBy({ explained }: Classification): string {
  return [...new Set(explained.map(({ id }) => id))].toSorted().join(" ");
}

function layOut(lines: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0, column))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Numbers stand at the right. */
function pad(cell: string, width: number, column: number): string {
  return column < HEAD.length - 4 ? cell.padEnd(width) : cell.padStart(width);
}
