import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildControlPlane } from "./index.ts";
import { parseJson, requireString } from "./json.ts";
import { poll } from "./poll.ts";
import { childrenOf, isRunning, runningIn } from "./testing/processes.ts";

const program = fileURLToPath(new URL("./testing/hold-control-plane.ts", import.meta.url));
const endTimeoutMs = 15_000;

describe("the programs of a control plane", () => {
  const directories: string[] = [];

  beforeAll(async () => {
    await buildControlPlane();
  }, 60 * 60_000);
  // A killed parent cannot remove its files.
  afterEach(async () => {
    for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
  });

  const hold = async (mode: "wait" | "end") => {
    const parent = spawn(process.execPath, ["--conditions=development", program, mode], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(parent, "exit");
    const answer = parseJson(await firstLine(parent), "the answer of hold-control-plane");
    const dir = path.dirname(requireString(answer, "logDir", "the answer of hold-control-plane"));
    directories.push(dir);
    return { parent, exited, dir };
  };
  const holdForever = async () => {
    const { parent } = await hold("wait");
    // etcd, kube-apiserver, kube-scheduler, kube-controller-manager, hollow-kubelet, and kubectl.
    const pids = await poll({ what: "six programs", timeoutMs: endTimeoutMs }, async () => {
      const children = await childrenOf(parent.pid ?? 0);
      return children.length === 6 ? children : undefined;
    });
    return { parent, pids };
  };
  const running = async (pids: readonly number[]) => {
    const states = await Promise.all(pids.map(isRunning));
    return pids.filter((_, index) => states[index]);
  };

  it.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)("end when the parent gets %s", async (signal) => {
    const { parent, pids } = await holdForever();
    expect(await running(pids)).toEqual(pids);
    parent.kill(signal);
    await expect.poll(() => running(pids), { timeout: endTimeoutMs }).toEqual([]);
  });

  it("end when the parent is killed while they are paused", async () => {
    const { parent, dir } = await hold("wait");
    const pids = await runningIn(dir);
    expect(pids).toHaveLength(5);
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    parent.kill("SIGKILL");
    await expect.poll(() => running(pids), { timeout: endTimeoutMs }).toEqual([]);
  });

  it("do not keep a parent alive that forgets stop(), and end with it", async () => {
    const { exited, dir } = await hold("end");
    expect(await exited).toEqual([0, null]);
    await expect.poll(() => runningIn(dir), { timeout: endTimeoutMs }).toEqual([]);
  });
});

async function firstLine(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const part of child.stdout ?? []) {
    text += String(part);
    if (text.includes("\n")) break;
  }
  return text;
}
