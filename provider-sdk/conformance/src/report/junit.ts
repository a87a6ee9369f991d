import { findingLines } from "./pretty.ts";
import type { CheckResult, Report } from "./report.ts";

/** JUnit XML: a suite for each category of checks, as CI systems read it. */
export const junit = (report: Report): string => {
  const suites = [...Map.groupBy(report.results, ({ id }) => id.split(".")[0] ?? id)];
  const lines = suites.flatMap(([name, results]) => [
    `  <testsuite name="${name}" ${counts(results)}>`,
    ...results.map(testCase),
    "  </testsuite>",
  ]);
  const root = `<testsuites name="cloudwire-conformance ${escape(report.provider.name)}" ${counts(report.results)}>`;
  return `${['<?xml version="1.0" encoding="UTF-8"?>', root, ...lines, "</testsuites>"].join("\n")}\n`;
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

const counts = (results: readonly CheckResult[]): string => {
  const of = (...kinds: readonly string[]): number =>
    results.filter(({ result }) => kinds.includes(result.kind)).length;
  const elapsedMs = results.reduce((sum, result) => sum + result.elapsedMs, 0);
  const skipped = of("skip", "blocked", "known-fail", "flaky", "advisory");
  return `tests="${results.length}" failures="${of("fail")}" errors="${of("error")}" skipped="${skipped}" time="${seconds(elapsedMs)}"`;
};

const testCase = (check: CheckResult): string => {
  const { id, profile, result, elapsedMs } = check;
  const open = `    <testcase classname="${profile}" name="${id}" time="${seconds(elapsedMs)}"`;
  const inner = outcome(result);
  return inner === undefined ? `${open}/>` : `${open}>${inner}</testcase>`;
};

const outcome = (result: CheckResult["result"]): string | undefined => {
  switch (result.kind) {
    case "pass":
      return undefined;
    case "skip":
      return `<skipped message="${escape(`${result.reason}: ${result.detail}`)}"/>`;
    case "blocked":
      return `<skipped message="${escape(`blocked by ${result.by}`)}"/>`;
    case "known-fail":
    case "flaky":
    case "advisory":
      return `<skipped message="${escape(`${result.kind}: ${result.finding.message}`)}"/>`;
    case "fail":
      return `<failure message="${escape(result.finding.message)}">${escape(findingLines(result.finding).join("\n"))}</failure>`;
    case "error":
      return `<error message="internal error of the kit">${escape(result.message)}</error>`;
  }
  return result satisfies never;
};

/** XML 1.0 has no place for most control characters, not even escaped. */
const escape = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
