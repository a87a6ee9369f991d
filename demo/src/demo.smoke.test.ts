import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ROOT } from "./processes/checkout.ts";
import { isAlive } from "./processes/testing.ts";

const POLL = { timeout: 60_000, interval: 50 };

let folder: string;
let demo: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cloudwire-demo-test-"));
});

afterEach(async () => {
  demo?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** The demo with its temporary files in a folder of ours, so that what it leaves can be seen. */
function start(...args: readonly string[]): { readonly output: () => string; readonly ended: Promise<number | null> } {
  const child = spawn(process.execPath, ["--conditions=development", "demo/src/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: folder, NO_COLOR: "1" },
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

/** Processes the demo told of. */
const pidsIn = (output: string): readonly number[] => [...output.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));

test("npm start -- --once reaches ready, sees every node answer and the provider come back, and leaves nothing", async () => {
  const { output, ended } = start("--once");
  const code = await ended;
  expect({ code, output: output() }).toMatchObject({ code: 0 });
  const lines = output().split("\n");
  for (const node of ["node-1", "node-2", "node-3"]) {
    const story = lines.filter((line) => line.includes(` ${node} `)).join("\n");
    expect(story).toMatch(/registered, tainted[^]*has InternalIP[^]*taint lifted/);
  }
  expect(output()).toMatch(/default\/web +has address 127\./);
  expect(output()).toMatch(/check +http:\/\/127\.\S+ is answered by node-1, node-2, node-3/);
  expect(output()).toMatch(/check +http:\/\/127\.0\.0\.1:\d+\/status\/ shows that all of it is well/);
  expect(output()).toMatch(/provider +was ended by SIGKILL, is started again[^]*provider +is back/);
  expect(output()).toContain("a Service made meanwhile got its load balancer");
  expect(pidsIn(output()).length).toBeGreaterThanOrEqual(5);
  expect(pidsIn(output()).filter(isAlive)).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

test("Ctrl-C ends a demo that is ready, with every process and file of it", async () => {
  const { output, ended } = start("--nodes", "1");
  await vi.waitFor(() => expect(output()).toContain("Add a machine at the cloud"), POLL);
  const [, page = ""] = /Watch it in a browser: the status page\n +(http:\S+)/.exec(output()) ?? [];
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
  expect(await readdir(folder)).toEqual([]);
});

test("a demo whose output nobody reads any more ends in order", async () => {
  const { output, ended } = start("--nodes", "1");
  await vi.waitFor(() => expect(output()).toContain("Add a machine at the cloud"), POLL);
  const pids = pidsIn(output());
  demo?.stdout?.destroy();
  // The next thing it tells fails: that its provider was killed.
  process.kill(Number(/provider .*pid (\d+)/.exec(output())?.[1]), "SIGKILL");
  expect(await ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});
