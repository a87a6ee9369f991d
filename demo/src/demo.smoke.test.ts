import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ROOT } from "./processes/checkout.ts";
import { isAlive } from "./processes/testing.ts";

const POLL = { timeout: 60_000, interval: 50 };

let directory: string;
let demo: ChildProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cloudwire-demo-test-"));
});

afterEach(async () => {
  demo?.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** The demo with its temporary files in our own directory, to find files that it leaves. */
function start(...args: readonly string[]): { readonly output: () => string; readonly ended: Promise<number | null> } {
  const child = spawn(process.execPath, ["--conditions=development", "demo/src/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: directory, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  demo = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { output: () => output, ended };
}

/** The process IDs in the output. */
const pidsIn = (output: string): readonly number[] => [...output.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));

test("npm start -- --once becomes ready, checks every node and the restart of the provider, and leaves no files", async () => {
  const { output, ended } = start("--once");
  const code = await ended;
  expect({ code, output: output() }).toMatchObject({ code: 0 });
  const lines = output().split("\n");
  for (const node of ["node-1", "node-2", "node-3"]) {
    const nodeLines = lines.filter((line) => line.includes(` ${node} `)).join("\n");
    expect(nodeLines).toMatch(/registered with the uninitialized taint[^]*InternalIP[^]*taint removed/);
  }
  expect(output()).toMatch(/default\/web +address 127\./);
  expect(output()).toMatch(/check +http:\/\/127\.\S+ reaches node-1, node-2, node-3/);
  expect(output()).toMatch(/check +http:\/\/127\.0\.0\.1:\d+\/status\/ shows all objects as ok/);
  expect(output()).toMatch(/provider +was ended by SIGKILL; restarting[^]*provider +restarted/);
  expect(output()).toContain("a Service created in the meantime got its load balancer");
  expect(pidsIn(output()).length).toBeGreaterThanOrEqual(5);
  expect(pidsIn(output()).filter(isAlive)).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});

test("Ctrl-C stops a ready demo with all its processes and deletes its files", async () => {
  const { output, ended } = start("--nodes", "1");
  await vi.waitFor(() => expect(output()).toContain("Create an instance in the cloud"), POLL);
  const [, page = ""] = /Open the status page in a browser\n +(http:\S+)/.exec(output()) ?? [];
  const shown = await fetch(page);
  expect({ status: shown.status, type: shown.headers.get("content-type") }).toEqual({
    status: 200,
    type: "text/html; charset=utf-8",
  });
  const pids = pidsIn(output());
  expect(pids.filter(isAlive)).toHaveLength(4);
  demo?.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});

test("a demo whose output is closed stops cleanly", async () => {
  const { output, ended } = start("--nodes", "1");
  await vi.waitFor(() => expect(output()).toContain("Create an instance in the cloud"), POLL);
  const pids = pidsIn(output());
  demo?.stdout?.destroy();
  // The demo fails to write that its provider was killed.
  process.kill(Number(/provider .*pid (\d+)/.exec(output())?.[1]), "SIGKILL");
  expect(await ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});
