import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { capture, ROOT } from "../lib/run.ts";
import type { Tally } from "./test-summary.ts";

/** How a suite that is too long for CI came out when it last ran, and on what. */
export interface LongRun {
  readonly suite: string;
  /** Abbreviated, with "+" where the tree had changes that are not committed. */
  readonly commit: string;
  /** Of its end, as in 2026-11-28. */
  readonly date: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Programs of this machine that the suite used, with versions, such as "containerd 1.6.20". */
  readonly programs?: readonly string[];
}

/** Committed, so that everybody sees when the long suites last ran. */
const RECORD = "test/long-runs.json";

export async function readLongRuns(): Promise<readonly LongRun[]> {
  const text = await readFile(join(ROOT, RECORD), "utf8").catch(() => undefined);
  return text === undefined ? [] : parseLongRuns(text);
}

/** Puts a run in the place of the same suite's last one. */
export async function recordLongRun(run: LongRun): Promise<void> {
  const others = (await readLongRuns()).filter(({ suite }) => suite !== run.suite);
  const runs = [...others, run].toSorted((left, right) => left.suite.localeCompare(right.suite));
  await writeFile(join(ROOT, RECORD), `${JSON.stringify(runs, null, 2)}\n`);
}

export interface RunFacts extends Pick<LongRun, "suite" | "commit" | "programs"> {
  readonly now: Date;
}

export function longRun({ now, ...facts }: RunFacts, { passed, failed, skipped }: Tally): LongRun {
  return { ...facts, date: now.toISOString().slice(0, "2026-11-28".length), passed, failed, skipped };
}

/** The first line that each program prints for `--version`, without the word "version". */
export async function programVersions(programs: readonly string[]): Promise<readonly string[]> {
  const lines = await Promise.all(programs.map((program) => capture(program, ["--version"])));
  return lines.map(versionLine);
}

/** "containerd 1.6.20" of "containerd github.com/containerd/containerd 1.6.20~ds1 …". */
export function versionLine(output: string): string {
  const [name = "", ...words] = output.split("\n", 1).join("").split(/\s+/);
  const version = words.find((word) => /^v?\d/.test(word)) ?? "";
  return `${name} ${version.replace(/^v/, "")}`.trim();
}

/** The commit that is checked out. */
export async function currentCommit(): Promise<string> {
  const commit = (await capture("git", ["rev-parse", "--short=10", "HEAD"])).trim();
  // The record itself changes as soon as the first suite has ended.
  const changes = await capture("git", ["status", "--porcelain", "--", ".", `:(exclude)${RECORD}`]);
  return changes.trim() === "" ? commit : `${commit}+`;
}

export function parseLongRuns(text: string): readonly LongRun[] {
  const runs: unknown = JSON.parse(text);
  if (!Array.isArray(runs) || !runs.every(isLongRun)) throw new Error(`${RECORD} is not what npm run test:long writes`);
  return runs;
}

/** A line for each of the suites, also for those that no one has run. */
export function formatLongRuns(suites: readonly string[], runs: readonly LongRun[]): readonly string[] {
  const width = Math.max(...suites.map((suite) => suite.length));
  return suites.map((suite) => {
    const run = runs.find((run) => run.suite === suite);
    const result =
      run === undefined
        ? "no run is recorded"
        : `${run.date} at commit ${run.commit}: ${run.passed} passed, ${run.failed} failed, ${run.skipped} skipped`;
    return `${suite.padEnd(width)}  ${result}`;
  });
}

function isLongRun(value: unknown): value is LongRun {
  if (typeof value !== "object" || value === null) return false;
  const is = (type: "string" | "number") => (key: string) => typeof Reflect.get(value, key) === type;
  return ["suite", "commit", "date"].every(is("string")) && ["passed", "failed", "skipped"].every(is("number"));
}
