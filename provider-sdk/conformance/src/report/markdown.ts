import { absenceLine, findingLines } from "./pretty.ts";
import type { Report } from "./report.ts";

/** A summary for a pull request: a table of profiles, and what failed. */
export const markdown = (report: Report): string => {
  const { provider, profiles, results } = report;
  const failed = results.filter(({ verdict }) => verdict.kind === "fail" || verdict.kind === "kit-error");
  const absence = absenceLine(report);
  const lines = [
    `# ${provider.name} ${provider.version}`,
    "",
    "| profile | verdict | passed | failed | blocked | skipped | excused |",
    "| --- | --- | --: | --: | --: | --: | --: |",
    ...profiles.map(
      ({ name, verdict, passed, failed: failures, blocked, skipped, excused }) =>
        `| ${name} | **${verdict}** | ${passed} | ${failures} | ${blocked} | ${skipped} | ${excused} |`,
    ),
    "",
    ...(absence === undefined ? [] : [`${absence[0]?.toUpperCase()}${absence.slice(1)}.`, ""]),
    `Contract ${provider.contractMajor}.${provider.contractMinor}, level ${report.level}, kit ${report.kit.version}, seed ${report.seed}. Claimed: ${provider.capabilities.map((name) => `\`${name}\``).join(" ") || "nothing"}.`,
    "",
    ...failed.flatMap(({ id, title, rules, verdict, repeat }) => [
      `## ${id}`,
      "",
      `${title} (${rules.join(", ")}).`,
      "",
      "```text",
      ...("finding" in verdict ? findingLines(verdict.finding) : [verdict.kind]),
      ...(repeat === undefined ? [] : [`  repeat    ${repeat}`]),
      "```",
      "",
    ]),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
};
