import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { readCreatedResources } from "../suite/created-resources-file.ts";
import { serveReference } from "../reference/provider.ts";

const exec = promisify(execFile);
const main = ["--conditions=development", join(import.meta.dirname, "..", "main.ts")];

/** A run whose actions only write down that they were called: it waits for a fault that never comes. */
const waitingRun = async () => {
  const reference = await serveReference();
  onTestFinished(() => reference.close());
  const directory = await mkdtemp(join(tmpdir(), "conformance-cli-hooks-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const config = join(directory, "conformance.yaml");
  const note = (name: string) => `  ${name}: { command: [sh, -c, 'echo "$CONFORMANCE_ACTION" >> actions'] }`;
  await writeFile(config, `hooks:\n${note("cloudFault429")}\n${note("cloudFaultClear")}\n`);
  const report = join(directory, "report");
  const args = ["run", "--level", "D", "--run", "fault.cloud.429", "--report", report, "--config", config, "--yes"];
  const kit = spawn(process.execPath, [...main, ...args, "--endpoint", reference.endpoint], { stdio: "ignore" });
  onTestFinished(() => void kit.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => {
    kit.once("exit", (code) => resolve(code));
  });
  const actions = async (): Promise<string> =>
    existsSync(join(directory, "actions")) ? readFile(join(directory, "actions"), "utf8") : "";
  await expect.poll(actions, { timeout: 60_000 }).toBe("cloudFault429\n");
  return { kit, ended, actions, config, resources: join(report, "resources.jsonl") };
};

test("a fault is undone when the run is ended by Ctrl-C", async () => {
  const { kit, ended, actions, resources } = await waitingRun();
  kit.kill("SIGINT");
  expect(await ended).not.toBe(0);
  expect(await actions()).toBe("cloudFault429\ncloudFaultClear\n");
  expect(readCreatedResources(resources)).toBeUndefined();
}, 120_000);

test("a fault of a run that was killed is undone by cleanup, which needs no provider for that", async () => {
  const { kit, ended, actions, config, resources } = await waitingRun();
  kit.kill("SIGKILL");
  await ended;
  expect(readCreatedResources(resources)).toEqual([{ kind: "hook", undo: "cloudFaultClear", variables: {} }]);
  const unreachable = ["--endpoint", "unix:///nowhere.sock"];
  await expect(exec(process.execPath, [...main, "cleanup", resources, ...unreachable])).rejects.toMatchObject({
    code: 4,
    stderr: expect.stringContaining("cloudFaultClear: the configuration has no hook cloudFaultClear"),
  });
  await exec(process.execPath, [...main, "cleanup", resources, "--config", config, ...unreachable]);
  expect(await actions()).toBe("cloudFault429\ncloudFaultClear\n");
  expect(readCreatedResources(resources)).toBeUndefined();
}, 120_000);
