import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ProcessSpec, Supervised } from "./supervised.ts";
import { isAlive } from "./testing.ts";

const POLL = { timeout: 20_000, interval: 20 };

let directory: string;
const started: Supervised[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cloudwire-supervised-"));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.stop()));
  await rm(directory, { recursive: true, force: true });
});

async function supervise(
  source: string,
  onExit: (description: string) => boolean = () => false,
  onRestart = vi.fn<(pid: number) => void>(),
) {
  const script = join(directory, "program.ts");
  await writeFile(script, source);
  const spec: ProcessSpec = {
    name: "program",
    command: [script, "argument"],
    env: { GIVEN: "value" },
    logFile: join(directory, "program.log"),
    readyLine: /^ready (\S+)/,
  };
  const supervised = new Supervised({ spec, onExit, onRestart });
  started.push(supervised);
  return { supervised, onRestart, log: () => readFile(spec.logFile, "utf8") };
}

const KEEPS_RUNNING = "setInterval(() => undefined, 1_000);";
const PRINTS_READY = "console.log(`ready ${process.argv[2]}-${process.env.GIVEN}`);";

describe("Supervised", () => {
  test("start() returns the groups of the ready line and keeps all output in the log", async () => {
    const { supervised, log } = await supervise(`console.error("first"); ${PRINTS_READY} ${KEEPS_RUNNING}`);
    expect(await supervised.start()).toEqual(["argument-value"]);
    expect((await log()).split("\n").toSorted()).toEqual(["", "first", "ready argument-value"]);
  });

  test("start() rejects with the end of the log when the process ends before it is ready", async () => {
    const { supervised } = await supervise('console.error("no such flag"); process.exitCode = 2;');
    await expect(supervised.start()).rejects.toThrow(
      /^program ended before it was ready \(code 2\)\. Its last lines:\n.*no such flag/s,
    );
  });

  test("a killed process is restarted when onExit() returns true", async () => {
    const exits: string[] = [];
    const { supervised, onRestart } = await supervise(`${PRINTS_READY} ${KEEPS_RUNNING}`, (description) => {
      exits.push(description);
      return true;
    });
    await supervised.start();
    const firstPid = supervised.pid;
    process.kill(firstPid, "SIGKILL");
    await vi.waitFor(() => expect(onRestart).toHaveBeenCalledTimes(1), POLL);
    expect(exits).toEqual(["was ended by SIGKILL"]);
    expect(supervised.pid).not.toBe(firstPid);
    expect(onRestart).toHaveBeenCalledWith(supervised.pid);
  });

  test("stop() ends the process without a call of onExit()", async () => {
    const onExit = vi.fn<(description: string) => boolean>(() => true);
    const { supervised } = await supervise(`${PRINTS_READY} ${KEEPS_RUNNING}`, onExit);
    await supervised.start();
    await supervised.stop();
    expect(isAlive(supervised.pid)).toBe(false);
    expect(onExit).not.toHaveBeenCalled();
  });

  test("its process ends when the process that supervises it is killed", async () => {
    const program = join(directory, "program.ts");
    await writeFile(program, `${PRINTS_READY} ${KEEPS_RUNNING}`);
    const parent = join(directory, "parent.ts");
    await writeFile(
      parent,
      `import { Supervised } from ${JSON.stringify(join(import.meta.dirname, "supervised.ts"))};
       const spec = { name: "p", command: [${JSON.stringify(program)}], logFile: ${JSON.stringify(join(directory, "p.log"))}, readyLine: /^ready/ };
       const supervised = new Supervised({ spec, onExit: () => false, onRestart: () => undefined });
       await supervised.start();
       console.log(supervised.pid);`,
    );
    const child = spawn(process.execPath, [parent], { stdio: ["ignore", "pipe", "inherit"] });
    const pid = await new Promise<number>((resolve) => {
      child.stdout.once("data", (text: Buffer) => resolve(Number(text)));
    });
    expect(isAlive(pid)).toBe(true);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), POLL);
  });
});
