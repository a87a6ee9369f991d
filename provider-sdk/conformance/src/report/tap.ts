import { findingLines } from "./pretty.ts";
import type { CheckResult, Report } from "./report.ts";

/** TAP 14: a line a check, what was found as a YAML block. */
export const tap = (report: Report): string => {
  const { results } = report;
  const lines = results.flatMap((result, index) => checkLines(result, index + 1));
  return `${["TAP version 14", `1..${results.length}`, ...lines].join("\n")}\n`;
};

const checkLines = (check: CheckResult, number: number): readonly string[] => {
  const { id, title, result } = check;
  const name = `${number} - ${id} ${title.replaceAll("#", "\\#")}`;
  switch (result.kind) {
    case "pass":
      return [`ok ${name}`];
    case "skip":
      return [`ok ${name} # SKIP ${result.detail}`];
    case "blocked":
      return [`ok ${name} # SKIP blocked by ${result.by}`];
    case "known-fail":
    case "flaky":
    case "advisory":
      return [`not ok ${name} # TODO ${result.kind}`, ...block(findingLines(result.finding))];
    case "fail":
      return [`not ok ${name}`, ...block(findingLines(result.finding))];
    case "error":
      return [`not ok ${name}`, ...block([`  ${result.message}`])];
  }
  return result satisfies never;
};

const block = (lines: readonly string[]): readonly string[] => [
  "  ---",
  "  found: |",
  ...lines.flatMap((line) => line.split("\n")).map((line) => `    ${line.trimStart()}`),
  "  ...",
];
