import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { Program } from "../support/program.ts";
import { type ForeignProvider, serveForeignMajor } from "./support/foreign-major.ts";

const STACK = /^\s+at .+:\d+:\d+\)?$/m;

let controlPlane: ControlPlane;
let folder: string;
const programs: Program[] = [];
const servers: Server[] = [];
const providers: ForeignProvider[] = [];

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  folder = await mkdtemp(join(tmpdir(), "bad-input-"));
}, 60 * 60_000);

afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program[Symbol.asyncDispose]()));
  for (const server of servers.splice(0)) server.close();
  for (const provider of providers.splice(0)) provider.close();
});

afterAll(async () => {
  await controlPlane.stop();
  await rm(folder, { recursive: true, force: true });
});

function startController(...args: readonly string[]): Program {
  const program = new Program({
    source: "controller/src/main.ts",
    args: ["--health-address=127.0.0.1:0", "--secure-port=0", ...args],
  });
  programs.push(program);
  return program;
}

const socketAt = (name: string) => join(folder, `${name}.sock`);
const provider = (name: string) => `--provider=acme=unix://${socketAt(name)}`;
const kubeconfig = () => `--kubeconfig=${controlPlane.kubeconfigPath}`;

async function kubeconfigFile(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** The one line it ends with, after it ended by itself. */
async function lastWords(
  program: Program,
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const { code } = await program.exit();
  return { code, lines: program.output.trim().split("\n") };
}

async function readyz(program: Program): Promise<{ readonly status: number; readonly text: string }> {
  const [, url] = await program.said(/health=(http:\S+)/);
  const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(5000) });
  return { status: answer.status, text: await answer.text() };
}

describe("the controller ends with one clear line", () => {
  test("when a flag is unknown", async () => {
    expect(await lastWords(startController(provider("none"), "--kubeconfg=/x"))).toEqual({
      code: 64,
      lines: ["cloudwire-controller-manager: --kubeconfg: is not a flag of this program; did you mean --kubeconfig?"],
    });
  });

  test("when the kubeconfig does not exist", async () => {
    const path = join(folder, "missing.kubeconfig");
    expect(await lastWords(startController(provider("none"), `--kubeconfig=${path}`))).toEqual({
      code: 1,
      lines: [expect.stringContaining(`cannot read kubeconfig ${path}: ENOENT`)],
    });
  });

  test("when the kubeconfig is not a kubeconfig", async () => {
    const path = await kubeconfigFile("broken.kubeconfig", "clusters: [}");
    expect(await lastWords(startController(provider("none"), `--kubeconfig=${path}`))).toEqual({
      code: 1,
      lines: [expect.stringContaining(`kubeconfig ${path} is not a valid kubeconfig`)],
    });
  });

  test("when the kubeconfig has no current context", async () => {
    const path = await kubeconfigFile(
      "empty.kubeconfig",
      "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\n",
    );
    expect(await lastWords(startController(provider("none"), `--kubeconfig=${path}`))).toEqual({
      code: 1,
      lines: [expect.stringContaining("has no current-context: set one with kubectl config use-context")],
    });
  });

  test("when there is neither a kubeconfig nor a pod", async () => {
    expect(await lastWords(startController(provider("none")))).toEqual({
      code: 1,
      lines: [expect.stringContaining("this is no pod; pass --kubeconfig")],
    });
  });

  test("when its health address is taken", async () => {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const program = startController(provider("none"), kubeconfig(), `--health-address=127.0.0.1:${port}`);
    expect(await lastWords(program)).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(
          /^cloudwire-controller-manager: --health-address: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
        ),
      ],
    });
  });
});

describe("the controller waits, says why and is not ready", () => {
  test("while the provider's socket is missing", async () => {
    const program = startController(provider("missing"), kubeconfig());
    await program.said(/does not exist/);
    const answer = await readyz(program);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain(`[-]provider failed: provider acme: `);
    expect(answer.text).toContain(socketAt("missing"));
    expect(program.output).not.toMatch(STACK);
  });

  test("while something else than a provider listens on the socket", async () => {
    const server = createServer((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
      socket.once("error", () => socket.destroy());
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(socketAt("http"), resolve));
    const program = startController(provider("http"), kubeconfig());
    const [line] = await program.said(/.*not a gRPC server.*/);
    expect(line).toContain("acme");
    expect((await readyz(program)).text).toContain("not a gRPC server");
    expect(program.output).not.toMatch(STACK);
  });

  test("while the provider speaks another major version of the contract", async () => {
    providers.push(await serveForeignMajor(socketAt("major")));
    const program = startController(provider("major"), kubeconfig());
    await program.said(/contract/);
    const answer = await eventually("readyz to name the contract", 10_000, async () => {
      const now = await readyz(program);
      return now.text.includes("cloudprovider.v2") || now.text.includes("contract") ? now : undefined;
    });
    expect(answer.status).toBe(500);
    expect(program.output).not.toMatch(STACK);
  });

  test("while it may not read what it needs", async () => {
    const { path } = await controlPlane.kubeconfigFor("nobody-special");
    const program = startController(provider("missing"), `--kubeconfig=${path}`);
    await program.said(/namespaces.*grant it in the ClusterRole/);
    const answer = await readyz(program);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("[-]cluster-identity failed: ");
    expect(answer.text).toContain("grant it in the ClusterRole");
    expect(program.output).not.toMatch(STACK);
  });

  test("while nobody answers at the API server's address", async () => {
    const content = controlPlane.adminKubeconfig.content.replace(controlPlane.server, "https://127.0.0.1:1");
    const path = await kubeconfigFile("unreachable.kubeconfig", content);
    const program = startController(provider("missing"), `--kubeconfig=${path}`);
    await program.said(/ECONNREFUSED/);
    expect((await readyz(program)).status).toBe(500);
    expect(program.running).toBe(true);
    expect(program.output).not.toMatch(STACK);
  });
});
