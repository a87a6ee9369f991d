import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATHS } from "@cloudwire/operator-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeController } from "./test/fake-controller.ts";
import { overview, plans } from "./test/samples.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cli-"));
});
afterEach(() => rm(directory, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

const start = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stdin: "ignore" | "pipe" = "ignore",
): ChildProcess =>
  spawn(process.execPath, ["--conditions=development", MAIN, ...args], {
    env: { PATH: process.env["PATH"], HOME: directory, ...environment },
    stdio: [stdin, "pipe", "pipe"],
  });

async function end(child: ChildProcess): Promise<Ended> {
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("close", (code, signal) => resolve([code, signal])),
  );
  return { code, signal, out, err };
}

describe("the program", () => {
  test.each([
    [["version"], 0, /^cloudwire \d+\.\d+\.\d+/, /^$/],
    [["--version"], 0, /^cloudwire \d+\.\d+\.\d+/, /^$/],
    [["--help"], 0, /^Usage: cloudwire COMMAND/, /^$/],
    [["approve", "--help"], 0, /^Usage: cloudwire approve node-deletion/, /^$/],
    [["status", "-o", "xml"], 2, /^$/, /\nSee cloudwire status --help\n$/],
    [["status"], 1, /^$/, /^cloudwire: no kubeconfig found/],
    [["explian"], 2, /^$/, /did you mean explain\?/],
  ])("%j ends with %d", async (args, code, out, err) => {
    const ended = await end(start(args));
    expect(ended).toEqual({ code, signal: null, out: expect.stringMatching(out), err: expect.stringMatching(err) });
  });

  test("is kubectl's plug-in where it is called so, and answers kubectl's completion", async () => {
    const run = (name: string, args: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        const path = join(directory, name);
        execFile(process.execPath, ["--conditions=development", path, ...args], (_error, out, err) =>
          resolve(out + err),
        );
      });
    for (const name of ["kubectl-cloudwire", "kubectl_complete-cloudwire"]) await symlink(MAIN, join(directory, name));
    expect(await run("kubectl-cloudwire", ["explain", "--help"])).toMatch(/^Usage: kubectl cloudwire explain/);
    expect(await run("kubectl_complete-cloudwire", ["appr"])).toBe("approve\n:4\n");
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends a watch on %s with %d", async (signal, code) => {
    await using controller = await FakeController.start({ isPlain: true });
    controller.pages.set(PATHS.overview, { body: overview });
    const child = start(["status", "--watch", "--server", `http://127.0.0.1:${controller.port}`]);
    child.stdout?.once("data", () => child.kill(signal));
    expect(await end(child)).toMatchObject({ code, signal: null, out: expect.stringMatching(/^cluster prod/) });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends a question that is not answered on %s with %d, and says nothing more", async (signal, code) => {
    const asked = Promise.withResolvers<Socket>();
    const server = createServer(asked.resolve);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const child = start(["status", "--timeout", "1h", "--server", `http://127.0.0.1:${port}`]);
    const ended = end(child);
    const socket = await asked.promise;
    child.kill(signal);
    expect(await ended).toEqual({ code, signal: null, out: "", err: "" });
    socket.destroy();
    server.close();
  });

  test("shows nothing on standard error that moves a terminal", async () => {
    await using controller = await FakeController.start({ isPlain: true });
    controller.pages.set(PATHS.overview, { status: 500, body: { message: "\u001B[2Joh\u009B31m dear\u202E" } });
    const { code, err } = await end(start(["status", "--server", `http://127.0.0.1:${controller.port}`]));
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/500 Internal Server Error:  \[2Joh 31m dear {2}\[CONTROLLER_ERROR\]\n$/),
    ]);
  });

  test("reads a token of standard input once, however often the way to the controller is made", async () => {
    await using controller = await FakeController.start({ isPlain: true });
    const answers = [{ body: overview }, { status: 500, body: "away" }, { body: { ...overview, cluster: "again" } }];
    const last = { status: 500, body: "away" };
    controller.pages.set(PATHS.overview, () => answers.shift() ?? last);
    const options = ["--watch", "--interval=1ms", "-o", "json", "--token-file", "-"];
    const child = start(["status", ...options, "--server", `http://127.0.0.1:${controller.port}`], {}, "pipe");
    child.stdin?.end("t0ken\n");
    child.stdout?.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("again")) child.kill("SIGINT");
    });
    expect(await end(child)).toMatchObject({ code: 130, out: expect.stringContaining("again") });
    expect(new Set(controller.seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer t0ken"]));
  });

  test.each([
    ["always", {}, true],
    ["auto", {}, false],
    ["always", { NO_COLOR: "1" }, true],
  ])("paints with --color %s and %j: %s", async (when, environment, isPainted) => {
    await using controller = await FakeController.start({ isPlain: true });
    controller.pages.set(PATHS.overview, { body: overview });
    const args = ["status", "--color", when, "--server", `http://127.0.0.1:${controller.port}`];
    const { out } = await end(start(args, environment));
    expect([out.includes("cluster prod"), out.includes("\u001B[")]).toEqual([true, isPainted]);
  });

  test("exits with 0 when its output is closed", async () => {
    await using controller = await FakeController.start({ isPlain: true });
    controller.pages.set(PATHS.overview, { body: { ...overview, cluster: "c".repeat(1e6) } });
    const child = start(["status", "--server", `http://127.0.0.1:${controller.port}`]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await end(child)).toMatchObject({ code: 0, err: "" });
  });

  test("does not report a safe cutover when its output is closed", async () => {
    await using controller = await FakeController.start({ isPlain: true });
    const [shown] = plans.plans;
    const many = Array.from({ length: 20_000 }, () => shown);
    controller.pages.set(PATHS.plans, { body: { ...plans, plans: many } });
    const child = start(["plan", "--server", `http://127.0.0.1:${controller.port}`]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await end(child)).toMatchObject({ code: 3, err: "" });
  });

  test("ends a watch when its output is closed", async () => {
    await using controller = await FakeController.start({ isPlain: true });
    let asked = 0;
    controller.pages.set(PATHS.overview, () => ({ body: { ...overview, cluster: String(asked++) } }));
    const server = `http://127.0.0.1:${controller.port}`;
    const child = start(["status", "--watch", "--interval", "1ms", "-o", "json", "--server", server]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await end(child)).toMatchObject({ code: 0, err: "" });
  });

  test("fails where the answer cannot be written", async () => {
    await using controller = await FakeController.start({ isPlain: true });
    controller.pages.set(PATHS.overview, { body: overview });
    await using full = await open("/dev/full", "w");
    const args = ["--conditions=development", MAIN, "status", "--server", `http://127.0.0.1:${controller.port}`];
    const env = { PATH: process.env["PATH"], HOME: directory };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", full.fd, "pipe"] });
    expect(await end(child)).toMatchObject({
      code: 1,
      err: expect.stringContaining("could not write the output: ENOSPC"),
    });
  });
});

describe("completion scripts", () => {
  /** What bash offers for a line, by the script alone. */
  const offered = async (line: string): Promise<readonly string[]> => {
    const wrapper = join(directory, "cloudwire");
    await writeFile(wrapper, `#!/bin/sh\nexec "${process.execPath}" --conditions=development "${MAIN}" "$@"\n`, {
      mode: 0o755,
    });
    const script = [
      `source <(cloudwire completion bash)`,
      `COMP_LINE=$1 COMP_POINT=\${#1}`,
      `COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'`,
      `_cloudwire`,
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
    ].join("\n");
    const child = spawn("bash", ["-c", script, "bash", line], {
      env: { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { out, err } = await end(child);
    expect(err).toBe("");
    return out.split("\n").filter((word) => word !== "");
  };

  test.each([
    ["cloudwire appr", ["approve"]],
    ["cloudwire approve ", ["node-deletion"]],
    ["cloudwire explain s", ["service/"]],
    ["cloudwire plan -o ", ["text", "json", "yaml"]],
    ["cloudwire plan --output=j", ["json"]],
    ["cloudwire completion ", ["bash", "zsh", "fish"]],
  ])("make bash complete %j to %j", async (line, words) => {
    expect(await offered(line)).toEqual(words);
  });

  test("make bash complete files", async () => {
    await writeFile(join(directory, "config-a"), "");
    expect(await offered(`cloudwire status --kubeconfig ${directory}/conf`)).toEqual([`${directory}/config-a`]);
    expect(await offered(`cloudwire status --kubeconfig=${directory}/conf`)).toEqual([`${directory}/config-a`]);
  });
});
