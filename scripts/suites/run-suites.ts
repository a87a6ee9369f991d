import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { run } from "../lib/run.ts";
import { NO_TESTS, readTally, type Tally } from "./test-summary.ts";

/** Runs vitest's projects of these names. */
export async function runVitest(suites: readonly string[], args: readonly string[] = []): Promise<Tally> {
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-test-"));
  try {
    const report = join(directory, "report.json");
    const projects = suites.flatMap((suite) => ["--project", suite]);
    const { code } = await run("vitest", ["run", "--passWithNoTests", ...projects, ...args], {
      output: "show",
      env: { CLOUDWIRE_TEST_REPORT: report },
    });
    const text = await readFile(report, "utf8").catch(() => undefined);
    return readTally(text, code);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Runs a program that passes or fails as a whole: it counts as one test. */
export async function runProgram(name: string, path: string): Promise<Tally> {
  const { code } = await run(process.execPath, ["--conditions=development", path], { output: "show" });
  return code === 0
    ? { ...NO_TESTS, passed: 1 }
    : { ...NO_TESTS, failed: 1, remarks: [`FAILED ${name}: ${path} ended with exit code ${code}`] };
}
