import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { runConformance } from "../suite/run-conformance.ts";

const main = join(import.meta.dirname, "..", "main.ts");

const kit = (...args: readonly string[]) => {
  const child = spawn(process.execPath, ["--conditions=development", main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CLOUD_PROVIDER_LOG_LEVEL: "error" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
};

const fake = async (...args: readonly string[]) => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-fake-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const endpoint = `unix://${join(directory, "provider.sock")}`;
  const child = kit("serve-fake", "--endpoint", endpoint, ...args);
  const [line]: readonly unknown[] = await once(createInterface({ input: child.stdout }), "line");
  return { child, endpoint, line };
};

const failing = async (endpoint: string): Promise<readonly string[]> => {
  const report = await runConformance({ endpoint, run: ["health.*", "proc.socket.mode"] });
  return report.results.flatMap(({ id, result }) => (result.kind === "fail" ? [id] : []));
};

describe("serve-fake", () => {
  test("serves a correct provider until it is ended", async () => {
    const { child, endpoint, line } = await fake();
    expect(line).toBe(`serving at ${endpoint} until it is ended`);
    expect(await failing(endpoint)).toEqual([]);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  }, 60_000);

  test("serves one with the faults that are named, of calls and of its process", async () => {
    const { endpoint } = await fake("--faults", "health-yes,open-socket", "--faults", "health-not-serving");
    expect((await failing(endpoint)).toSorted()).toEqual(["health.overall", "health.unknown", "proc.socket.mode"]);
  }, 60_000);

  test("says which faults there are not, in one line", async () => {
    const child = kit("serve-fake", "--faults", "no-such-fault");
    const [line]: readonly unknown[] = await once(createInterface({ input: child.stderr }), "line");
    expect(line).toBe(
      "cloudwire-conformance: there is no fault no-such-fault; cloudwire-conformance selftest prints the names",
    );
    expect(await once(child, "exit")).toEqual([2, null]);
  }, 60_000);
});
