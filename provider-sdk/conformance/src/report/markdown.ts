import { absenceLine, findingLines } from "./pretty.ts";
import type { Report } from "./report.ts";

/** A summary for a pull request: a table of profiles, and what failed. */
export const markdown = (report: Report): string => {
  const { provider, profiles, results } = report;
  const failed = results.filter(({ result }) => result.kind === "fail" || result.kind === "error");
  const absence = absenceLine(report);
  const lines = [
    `# ${provider.name} ${provider.version}`,
    "",
    "| profile | result | passed | failed | blocked | skipped | known failures |",
    "| --- | --- | --: | --: | --: | --: | --: |",
    ...profiles.map(
      ({ name, result, passed, failed: failures, blocked, skipped, knownFailures }) =>
        `| ${name} | **${result}** | ${passed} | ${failures} | ${blocked} | ${skipped} | ${knownFailures} |`,
    ),
    "",
    ...(absence === undefined ? [] : [`${absence[0]?.toUpperCase()}${absence.slice(1)}.`, ""]),
    `Contract ${provider.contractMajor}.${provider.contractMinor}, level ${report.level}, kit ${report.kit.version}, seed ${report.seed}. Claimed: ${provider.capabilities.map((name) => `\`${name}\``).join(" ") || "nothing"}.`,
    "",
    ...failed.flatMap(({ id, title, rules, result, repeat }) => [
      `## ${id}`,
      "",
      `${title} (${rules.join(", ")}).`,
      "",
      "```text",
      ...("finding" in result ? findingLines(result.finding) : [result.kind]),
      ...(repeat === undefined ? [] : [`  repeat    ${repeat}`]),
      "```",
      "",
    ]),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
};
