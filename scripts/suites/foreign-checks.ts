import { GO_MODULES, preparePython, PYTHON_SDK } from "./foreign-suites.ts";
import { run } from "../lib/run.ts";
import { findGo, GO_BUILD } from "./toolchains.ts";
import { treeFiles } from "../lib/tree.ts";

/** What a step of the checks found. */
export interface CheckOutcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Layout of every Go file, and `go vet` of the modules that vendors use. */
export async function checkGo(): Promise<CheckOutcome> {
  const missing = await findGo();
  if (missing !== undefined) return { ok: false, output: missing };
  const files = await treeFiles("*.go");
  const unformatted = await run("gofmt", ["-l", ...files], { output: "keep" });
  if (unformatted.code !== 0 || unformatted.output !== "")
    return { ok: false, output: `gofmt -l:\n${unformatted.output}` };
  return firstFailure(GO_MODULES.map((cwd) => ({ cwd, command: "go", args: ["vet", ...GO_BUILD.args, "./..."] })));
}

/** Layout, lint and types of the Python packages. */
export async function checkPython(): Promise<CheckOutcome> {
  const missing = await preparePython();
  if (missing !== undefined) return { ok: false, output: missing };
  const python = (...args: readonly string[]) => ({
    cwd: PYTHON_SDK,
    command: ".venv/bin/python",
    args: ["-m", ...args],
  });
  const simulated = "../../providers/simulated-python";
  const sources = [".", simulated, "../../test/programs/emulators", "../../test/suites/openstack/services"];
  return firstFailure([
    python("ruff", "format", "--check", ...sources),
    python("ruff", "check", ...sources),
    python("mypy"),
    python("mypy", simulated),
  ]);
}

interface Step {
  readonly cwd: string;
  readonly command: string;
  readonly args: readonly string[];
}

async function firstFailure(steps: readonly Step[]): Promise<CheckOutcome> {
  for (const { cwd, command, args } of steps) {
    const { code, output } = await run(command, args, { cwd, output: "keep", env: GO_BUILD.env });
    if (code !== 0) return { ok: false, output: `${command} ${args.join(" ")} in ${cwd}:\n${output}` };
  }
  return { ok: true, output: "" };
}
