import { readFile, writeFile } from "node:fs/promises";
import { UsageError, errorText } from "../errors.ts";
import { allChecks } from "../checks/registry.ts";
import { badgeJson, badgeOf, badgeSvg } from "../report/badge.ts";
import { type FormatName, formats } from "../report/formats.ts";
import { mergeReports } from "../report/merge.ts";
import { parseReport } from "../report/schema.ts";
import type { Report } from "../report/report.ts";
import { reportProblems } from "../report/verify.ts";

/** A command about reports that were written before. */
export interface ReportCommand {
  /** `verify a.json`, `merge a.json b.json`, `badge a.json`. */
  readonly words: readonly string[];
  readonly format: FormatName;
  readonly output: string | undefined;
  readonly out: (text: string) => void;
}

/** Carries it out; false: a report is not what it says it is. */
export const reportCommand = async ({ words, format, output, out }: ReportCommand): Promise<boolean> => {
  const [verb, ...paths] = words;
  if (verb !== "verify" && verb !== "merge" && verb !== "badge")
    throw new UsageError("what about reports? report verify a.json, report merge a.json b.json or report badge a.json");
  if (paths.length === 0) throw new UsageError(`report ${verb} which? Give files that --format json wrote`);
  const reports = await Promise.all(paths.map(readReport));
  const problems = reports.flatMap((report, index) =>
    reportProblems(report, allChecks).map((problem) => `${paths[index]}: ${problem}\n`),
  );
  if (problems.length > 0) {
    out(problems.join(""));
    return false;
  }
  const write = async (text: string): Promise<void> => {
    if (output === undefined) out(text);
    else await writeFile(output, text);
  };
  switch (verb) {
    case "verify":
      for (const [index, report] of reports.entries()) out(`${paths[index]}: ${badgeOf(report).message}\n`);
      return true;
    case "merge":
      await write(formats[format](mergeReports(reports), false));
      return true;
    case "badge": {
      const badge = badgeOf(mergeReports(reports));
      await write(output?.endsWith(".svg") === true ? badgeSvg(badge) : badgeJson(badge));
      return true;
    }
  }
  return verb satisfies never;
};

const readReport = async (path: string): Promise<Report> => {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new UsageError(`the report ${path} cannot be read: ${errorText(error)}`);
  });
  return parseReport(text, path);
};
