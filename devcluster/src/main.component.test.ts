import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = path.join(import.meta.dirname, "main.ts");

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--conditions=development", program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
}

async function run(args: readonly string[]): Promise<Ended> {
  const child = start(args);
  let output = "";
  let errors = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code]: readonly (number | null)[] = await once(child, "close");
  return { code: code ?? null, output, errors };
}

describe("devcluster, the program", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "devcluster-"));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  test("serves, writes a kubeconfig, and ends on SIGTERM", async () => {
    const file = path.join(directory, "kubeconfig");
    const child = start(["--port=0", `--kubeconfig-out=${file}`]);
    const [line]: readonly Buffer[] = await once(child.stdout ?? child, "data");
    const url = /serving the Kubernetes API at (\S+)/.exec(line?.toString() ?? "")?.[1] ?? "";
    const response = await fetch(`${url}/readyz`);
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
    expect(await readFile(file, "utf8")).toContain(url);
    child.kill("SIGTERM");
    const [code]: readonly (number | null)[] = await once(child, "exit");
    expect(code).toBe(0);
  });

  test("explains itself", async () => {
    expect(await run(["--help"])).toMatchObject({
      code: 0,
      output: expect.stringContaining("Usage: devcluster"),
      errors: "",
    });
  });

  test("answers a bad command line with one line a problem", async () => {
    expect(await run(["--bogus", "--port=x"])).toEqual({
      code: 2,
      output: "",
      errors:
        "devcluster: unknown flag --bogus: see --help for the flags there are\ndevcluster: --port=x is no port: give a number from 0 to 65535\n",
    });
  });

  test("says which port is taken", async () => {
    const blocker = createServer();
    blocker.listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const address = blocker.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const ended = await run([`--port=${port}`]);
    blocker.close();
    expect(ended).toMatchObject({
      code: 1,
      errors: expect.stringMatching(
        /^devcluster: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*; choose another --port or --host\n$/,
      ),
    });
  });

  test("says which file it cannot write", async () => {
    const file = path.join(directory, "missing", "kubeconfig");
    const ended = await run(["--port=0", `--kubeconfig-out=${file}`]);
    expect(ended).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^devcluster: cannot write .*kubeconfig: .*; choose another --kubeconfig-out\n$/),
    });
  });
});
