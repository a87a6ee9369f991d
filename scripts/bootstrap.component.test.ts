import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ROOT } from "./lib/run.ts";

const POLL = { timeout: 20_000, interval: 20 };

/** Stands in for npm: counts its runs, installs what the lockfile says, or fails or hangs if a file says so. */
const FAKE_NPM = `
  import { appendFileSync, cpSync, existsSync, mkdirSync } from "node:fs";
  appendFileSync("npm-runs", process.argv.slice(2).join(" ") + "\\n");
  if (existsSync("npm-hangs")) setInterval(() => undefined, 1000);
  else if (existsSync("npm-fails")) {
    console.log("some progress\\nnpm error code EUSAGE\\nnpm error the cause");
    process.exitCode = 7;
  } else {
    mkdirSync("node_modules", { recursive: true });
    cpSync("package-lock.json", "node_modules/.package-lock.json");
  }
`;

/** Replaces scripts/check.ts. */
const TASK = `
  import { writeFileSync } from "node:fs";
  const [mode] = process.argv.slice(2);
  if (mode === "wait") {
    process.on("SIGTERM", () => { writeFileSync("cleaned-up", ""); process.exit(5); });
    setInterval(() => undefined, 1000);
  } else process.exitCode = Number(mode ?? 0);
  console.log("task ran: " + process.argv.slice(2).join(" "));
`;

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "cloudwire-bootstrap-"));
  await mkdir(join(root, "scripts"));
  for (const path of ["scripts/bootstrap.mjs", "scripts/lib", "scripts/node-guard"]) {
    await cp(join(ROOT, path), join(root, path), { recursive: true });
  }
  await write("package.json", JSON.stringify({ type: "module", engines: { node: ">=24.21.0 <25" } }));
  await writeLockfile("1.0.0");
  await write("npm.js", FAKE_NPM);
  await write("scripts/check.ts", TASK);
});

afterEach(() => rm(root, { recursive: true, force: true }));

const write = (path: string, text: string) => writeFile(join(root, path), text);
const writeLockfile = (version: string) =>
  write("package-lock.json", JSON.stringify({ packages: { "": {}, "node_modules/a": { version } } }));
const npmRuns = () => readFile(join(root, "npm-runs"), "utf8").catch(() => "");

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["scripts/bootstrap.mjs", ...args], {
    cwd: root,
    env: { ...process.env, npm_execpath: join(root, "npm.js"), TMPDIR: root },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly output: string }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, output }));
  });
}

describe("bootstrap", () => {
  test("installs in a fresh clone, then runs the task with its arguments and answers its exit code", async () => {
    const { code, output } = await ended(start("check", "3", "--flag"));
    expect({ code, npm: await npmRuns() }).toEqual({ code: 3, npm: "ci\n" });
    expect(output).toContain("Installing packages (npm ci)");
    expect(output).toContain("task ran: 3 --flag");
  });

  test("installs again only when the lockfile has changed", async () => {
    await ended(start("check"));
    await ended(start("check"));
    expect(await npmRuns()).toBe("ci\n");
    await writeLockfile("2.0.0");
    await ended(start("check"));
    expect(await npmRuns()).toBe("ci\nci\n");
  });

  test("shows npm's error and where the log is when the install fails, and does not run the task", async () => {
    await write("npm-fails", "");
    const { code, output } = await ended(start("check"));
    expect(code).toBe(1);
    expect(output).toMatch(/npm ci failed \(exit 7\).*log in (\S+):\nnpm error code EUSAGE\nnpm error the cause\n/s);
    expect(output).not.toContain("some progress");
    expect(output).not.toContain("task ran");
  });

  test("names the tasks when it does not know the one asked for", async () => {
    const { code, output } = await ended(start("chekc"));
    expect({ code, output }).toEqual({
      code: 1,
      output:
        'cloudwire: unknown task "chekc"; choose one of: demo, test, test:all, test:long, test:system, test:differential, test:parity, test:openstack, test:kubelet, soak, bench, bench:sdk, conformance, images, check, upstream\n',
    });
  });

  test("hands a signal to the task, waits for its clean-up and answers its exit code", async () => {
    const child = start("check", "wait");
    const end = ended(child);
    await new Promise((resolve) =>
      child.stdout?.on("data", (text: Buffer) => text.includes("task ran") && resolve(undefined)),
    );
    child.kill("SIGTERM");
    expect(await end).toMatchObject({ code: 5 });
    expect(await readFile(join(root, "cleaned-up"), "utf8")).toBe("");
  });

  test("an interrupted install ends with the signal's code and leaves no log", async () => {
    await write("npm-hangs", "");
    const child = start("check");
    const end = ended(child);
    await vi.waitFor(async () => expect(await npmRuns()).toBe("ci\n"), POLL);
    child.kill("SIGINT");
    const { code, output } = await end;
    expect(code).toBe(130);
    expect(output).not.toContain("task ran");
    expect(output).not.toContain("failed");
    expect((await readdir(root)).filter((name) => name.startsWith("cloudwire-install-"))).toEqual([]);
  });
});
