import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGoFailures, readGoTally, readJunitTally } from "./foreign-summary.ts";
import { run } from "../lib/run.ts";
import { addTallies, NO_TESTS, type Tally } from "./test-summary.ts";
import { GO_BUILD, prepareGoProgram, prepareVenv } from "./toolchains.ts";

/** Go modules with tests of their own, or that vendors read. Real clouds' are only built: to vet them takes as long again. */
export const GO_MODULES: readonly string[] = [
  "provider-sdk/go",
  "provider-sdk/go/bridge",
  "providers/simulated-go",
  "test/programs/bridged/fake",
];

/** The Python package's directory: its environment has what the tests and the checks need. */
export const PYTHON_SDK = "provider-sdk/python";

/** Makes ready what pytest runs in. */
export async function preparePython(): Promise<string | undefined> {
  return prepareVenv(PYTHON_SDK);
}

/** Makes ready the sidecars that are not written in TypeScript, and the clouds of those that are bridged. */
export async function prepareSidecars(): Promise<string | undefined> {
  return firstReason([
    () => prepareGoProgram("providers/simulated-go", "provider-simulated-go"),
    preparePython,
    () => prepareGoProgram("test/programs/bridged/fake", "provider-fake"),
    () =>
      prepareGoProgram(
        "test/programs/bridged/aws",
        "provider-aws",
        unoptimized("github.com/aws/aws-sdk-go-v2/service/ec2"),
      ),
    () => prepareGoProgram("test/programs/bridged/gcp", "provider-gcp", unoptimized("google.golang.org/api/...")),
    () => prepareVenv("test/programs/emulators"),
  ]);
}

/** The clouds' generated clients take half of the build; this halves their share. The tests do not get measurably slower. */
function unoptimized(packages: string): readonly string[] {
  return ["-ldflags=-s -w", `-gcflags=${packages}=-N -l`];
}

export async function runGoTests(): Promise<Tally> {
  let total = NO_TESTS;
  for (const cwd of GO_MODULES) {
    const { code, output } = await run("go", ["test", ...GO_BUILD.args, "-json", "./..."], {
      cwd,
      output: "keep",
      env: GO_BUILD.env,
    });
    const tally = readGoTally(output, code);
    console.log(`${readGoFailures(output)}\ngo test in ${cwd}: ${tally.passed} passed, ${tally.failed} failed`);
    total = addTallies(total, tally);
  }
  return total;
}

export async function runPytest(): Promise<Tally> {
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-pytest-"));
  try {
    const report = join(directory, "report.xml");
    const args = ["-m", "pytest", "--quiet", `--junitxml=${report}`];
    const { code } = await run(".venv/bin/python", args, { cwd: PYTHON_SDK, output: "show" });
    return readJunitTally(await readFile(report, "utf8").catch(() => undefined), code);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function firstReason(steps: readonly (() => Promise<string | undefined>)[]): Promise<string | undefined> {
  for (const step of steps) {
    const reason = await step();
    if (reason !== undefined) return reason;
  }
  return undefined;
}
