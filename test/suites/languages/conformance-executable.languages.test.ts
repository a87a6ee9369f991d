import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestHost } from "../conformance/host.ts";
import { runCommand } from "../conformance/run-kit.ts";
import { subjects } from "../conformance/subjects.ts";

const run = promisify(execFile);
const kit = fileURLToPath(new URL("../../../provider-sdk/conformance", import.meta.url));
const RUN_MS = 300_000;

let directory: string;
let executable: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "conformance-executable-"));
  await run("npm", ["run", "--silent", "build:executable", "--", "--out", directory], { cwd: kit });
  executable = join(directory, "cloudwire-conformance");
}, RUN_MS);
afterAll(() => rm(directory, { recursive: true, force: true }));

// No Node, and nothing else of this machine's programs: the kit is one file, and starts the provider by its path.
test.each(["simulated-go", "simulated-python"])(
  "the executable tests %s where PATH is empty and no Node is installed",
  async (name) => {
    const subject = subjects.find((one) => one.name === name);
    if (subject === undefined) throw new Error(`${name} is not shipped any more`);
    await using host = await TestHost.create();
    const started = await subject.start(host);
    const config = join(host.directory, "conformance.yaml");
    await writeFile(config, started.config);
    const args = ["run", "--level", "R", "--slow-factor", "5", "--config", config];
    const { code, output, report } = await runCommand([executable], args, started, join(host.directory, "report"), {
      PATH: "",
    });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^core: conformant, \d+ passed$/m) });
    expect(report.provider.name).toBe("simulated.cloudwire.dev");
    expect(report.profiles.find((profile) => profile.name === "instances")?.result).not.toBe("failed");
    const verify = await run(executable, ["report", "verify", join(host.directory, "report", "conformance.json")], {
      env: { PATH: "" },
    });
    expect(verify.stdout).toMatch(/conformance\.json: (?:conformant|partial) /);
  },
  RUN_MS,
);
