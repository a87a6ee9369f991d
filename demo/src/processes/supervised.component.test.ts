import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ProcessSpec, Supervised } from "./supervised.ts";
import { isAlive } from "./testing.ts";

const POLL = { timeout: 20_000, interval: 20 };

let folder: string;
const started: Supervised[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cloudwire-supervised-"));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function supervise(
  source: string,
  onLost: (how: string) => boolean = () => false,
  onBack = vi.fn<(pid: number) => void>(),
) {
  const script = join(folder, "program.ts");
  await writeFile(script, source);
  const spec: ProcessSpec = {
    name: "program",
    command: [script, "argument"],
    env: { GIVEN: "value" },
    logFile: join(folder, "program.log"),
    readyLine: /^ready (\S+)/,
  };
  const supervised = new Supervised({ spec, onLost, onBack });
  started.push(supervised);
  return { supervised, onBack, log: () => readFile(spec.logFile, "utf8") };
}

const STAYS = "setInterval(() => undefined, 1_000);";
const SAYS_READY = "console.log(`ready ${process.argv[2]}-${process.env.GIVEN}`);";

describe("Supervised", () => {
  test("start() answers what stood in the ready line and keeps all output in the log", async () => {
    const { supervised, log } = await supervise(`console.error("first"); ${SAYS_READY} ${STAYS}`);
    expect(await supervised.start()).toEqual(["argument-value"]);
    expect((await log()).split("\n").toSorted()).toEqual(["", "first", "ready argument-value"]);
  });

  test("start() rejects with the end of the log when the process ends before it is ready", async () => {
    const { supervised } = await supervise('console.error("no such flag"); process.exitCode = 2;');
    await expect(supervised.start()).rejects.toThrow(
      /^program ended before it was ready \(code 2\)\. Its last lines:\n.*no such flag/s,
    );
  });

  test("a process that is killed is started again when onLost() says so", async () => {
    const lost: string[] = [];
    const { supervised, onBack } = await supervise(`${SAYS_READY} ${STAYS}`, (how) => {
      lost.push(how);
      return true;
    });
    await supervised.start();
    const firstPid = supervised.pid;
    process.kill(firstPid, "SIGKILL");
    await vi.waitFor(() => expect(onBack).toHaveBeenCalledTimes(1), POLL);
    expect(lost).toEqual(["was ended by SIGKILL"]);
    expect(supervised.pid).not.toBe(firstPid);
    expect(onBack).toHaveBeenCalledWith(supervised.pid);
  });

  test("stop() ends it without calling it lost", async () => {
    const onLost = vi.fn<(how: string) => boolean>(() => true);
    const { supervised } = await supervise(`${SAYS_READY} ${STAYS}`, onLost);
    await supervised.start();
    await supervised.stop();
    expect(isAlive(supervised.pid)).toBe(false);
    expect(onLost).not.toHaveBeenCalled();
  });

  test("its process ends when the process that supervises it is killed", async () => {
    const program = join(folder, "program.ts");
    await writeFile(program, `${SAYS_READY} ${STAYS}`);
    const parent = join(folder, "parent.ts");
    await writeFile(
      parent,
      `import { Supervised } from ${JSON.stringify(join(import.meta.dirname, "supervised.ts"))};
       const spec = { name: "p", command: [${JSON.stringify(program)}], logFile: ${JSON.stringify(join(folder, "p.log"))}, readyLine: /^ready/ };
       const supervised = new Supervised({ spec, onLost: () => false, onBack: () => undefined });
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
