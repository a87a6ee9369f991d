import { absenceLine, findingLines } from "./pretty.ts";
import type { CheckResult, Report, CheckOutcome } from "./report.ts";

/** One page that needs nothing else: no script, no font, no picture, and no permission to load any. */
export const html = (report: Report): string => {
  const { provider, profiles, results } = report;
  const title = `${provider.name} ${provider.version}`;
  const bad = results.filter(({ result }) => isBad(result));
  const claims = provider.capabilities.join(", ") || "nothing";
  return `${[
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Conformance of ${escape(title)}</title>`,
    `<style>${style}</style>`,
    `<h1>${escape(title)}</h1>`,
    `<p>Contract ${provider.contractMajor}.${provider.contractMinor}, level ${report.level}, kit ${escape(report.kit.version)}, seed ${report.seed}, ${escape(report.startTime)}, ${seconds(report.elapsedMs)}. Claims ${escape(claims)}.</p>`,
    "<table><thead><tr><th>profile<th>result<th>passed<th>failed<th>blocked<th>skipped<th>known failures<tbody>",
    ...profiles.map(
      ({ name, result, passed, failed, blocked, skipped, knownFailures }) =>
        `<tr><td>${name}<td class="${result}">${result}<td>${passed}<td>${failed}<td>${blocked}<td>${skipped}<td>${knownFailures}`,
    ),
    "</table>",
    `<p>${escape(absenceLine(report) ?? "")}</p>`,
    ...(bad.length === 0 ? [] : ["<h2>What failed</h2>", ...bad.map((result) => entry(result, true))]),
    "<h2>All checks</h2>",
    ...[...Map.groupBy(results, ({ id }) => id.split(".")[0] ?? id)].flatMap(([name, ofCategory]) => [
      `<h3>${escape(name)}</h3>`,
      ...ofCategory.map((result) => entry(result, false)),
    ]),
    "</html>",
  ].join("\n")}\n`;
};

const isBad = ({ kind }: CheckOutcome): boolean => kind === "fail" || kind === "error";

const entry = (check: CheckResult, open: boolean): string => {
  const { id, title, rules, result, elapsedMs, level, profile, repeat } = check;
  const details = [...facts(result), ...(repeat === undefined ? [] : [`repeat    ${repeat}`])].join("\n");
  return [
    `<details${open ? " open" : ""}><summary><b class="${result.kind}">${result.kind}</b> <code>${escape(id)}</code> ${escape(title)}</summary>`,
    `<p>${escape(rules.join(", "))} · level ${level} · ${profile} · ${seconds(elapsedMs)}</p>`,
    ...(details === "" ? [] : [`<pre>${escape(details)}</pre>`]),
    "</details>",
  ].join("\n");
};

const facts = (result: CheckOutcome): readonly string[] => {
  switch (result.kind) {
    case "pass":
      return [];
    case "skip":
      return [`${result.reason}: ${result.detail}`];
    case "blocked":
      return [`blocked by ${result.by}`];
    case "error":
      return [`internal error of the kit: ${result.message}`];
    case "fail":
    case "known-fail":
    case "flaky":
    case "advisory":
      return findingLines(result.finding).map((line) => line.replace(/^ {2}/, ""));
  }
  return result satisfies never;
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const style = `
:root { color-scheme: light dark; --good: light-dark(#17692c, #6bd08a); --bad: light-dark(#a8161c, #ff8c8c); --mixed: light-dark(#7d5200, #e3b341) }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884 }
details { border-bottom: 1px solid #8884; padding: .2rem 0 } summary { cursor: pointer }
pre { overflow-x: auto; white-space: pre-wrap; padding: .5rem; background: #8881 }
.pass, .conformant { color: var(--good) } .fail, .error, .failed { color: var(--bad) }
.blocked, .known-fail, .flaky, .advisory, .partial { color: var(--mixed) }
`;
