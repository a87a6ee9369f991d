import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { spawnCloud } from "@cloudwire/provider-simulated";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { Program } from "../../../support/program.ts";
import { type ForeignProvider, serveForeignMajor } from "../support/providers/foreign-major.ts";

const STACK = /^\s+at .+:\d+:\d+\)?$/m;

let controlPlane: ControlPlane;
let directory: string;
const programs: Program[] = [];
const servers: Server[] = [];
const providers: ForeignProvider[] = [];

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  directory = await mkdtemp(join(tmpdir(), "bad-input-"));
}, 60 * 60_000);

afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program[Symbol.asyncDispose]()));
  for (const server of servers.splice(0)) server.close();
  for (const provider of providers.splice(0)) provider.close();
});

afterAll(async () => {
  await controlPlane.stop();
  await rm(directory, { recursive: true, force: true });
});

function start(options: ConstructorParameters<typeof Program>[0]): Program {
  const program = new Program(options);
  programs.push(program);
  return program;
}

function startController(...args: readonly string[]): Program {
  return start({
    source: "controller/src/main.ts",
    args: ["--health-bind-address=127.0.0.1:0", "--secure-port=0", ...args],
  });
}

/** A sidecar that serves at that socket, and nothing where its cloud was. */
async function startSidecarWithoutCloud(name: string): Promise<void> {
  const cloud = await spawnCloud();
  await cloud.stop("SIGKILL");
  const sidecar = start({
    source: "providers/simulated/src/sidecar/main.ts",
    args: [`--cloud-url=${cloud.url}`],
    env: { CLOUD_PROVIDER_ENDPOINT: `unix://${socketAt(name)}`, SIMCLOUD_API_KEY: "key" },
  });
  await sidecar.said(/ready/);
}

const socketAt = (name: string) => join(directory, `${name}.sock`);
const provider = (name: string) => `--provider=acme=unix://${socketAt(name)}`;
const kubeconfig = () => `--kubeconfig=${controlPlane.kubeconfigPath}`;

async function file(name: string, content: string): Promise<string> {
  const path = join(directory, name);
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

interface Page {
  readonly status: number;
  readonly text: string;
}

async function page(program: Program, path: string): Promise<Page> {
  const [, url] = await program.said(/health=(http:\S+)/);
  const answer = await fetch(`${url}${path}?verbose`, { signal: AbortSignal.timeout(5000) });
  return { status: answer.status, text: await answer.text() };
}

const readyz = (program: Program): Promise<Page> => page(program, "/readyz");

/** What kubelet asks before it restarts the pod. */
async function liveness(program: Program): Promise<readonly number[]> {
  return [(await page(program, "/livez")).status, (await page(program, "/healthz")).status];
}

describe("the controller ends with one clear line", () => {
  test("when a flag is unknown", async () => {
    expect(await lastWords(startController(provider("none"), "--kubeconfg=/x"))).toEqual({
      code: 64,
      lines: ["cloudwire-controller-manager: --kubeconfg: is not a flag of this program; did you mean --kubeconfig?"],
    });
  });

  test("for each of a flag, a variable and a configuration file that are wrong", async () => {
    const path = await file(
      "wrong.yaml",
      "apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\nKubeCloudShared:\n  ClusterNam: blue\n",
    );
    const program = start({
      source: "controller/src/main.ts",
      args: [provider("none"), `--config=${path}`, "--kubeconfg=/x"],
      env: { CLOUDWIRE_V: "loud" },
    });
    const { code, lines } = await lastWords(program);
    expect({ code, lines: lines.toSorted() }).toEqual({
      code: 64,
      lines: [
        "--kubeconfg: is not a flag of this program; did you mean --kubeconfig?",
        `${path}:4: KubeCloudShared.ClusterNam: is not a setting; did you mean KubeCloudShared.ClusterName?`,
        'CLOUDWIRE_V: "loud" is not a whole number of at least 0',
      ].map((problem) => `cloudwire-controller-manager: ${problem}`),
    });
  });

  test("when the kubeconfig does not exist", async () => {
    const path = join(directory, "missing.kubeconfig");
    expect(await lastWords(startController(provider("none"), `--kubeconfig=${path}`))).toEqual({
      code: 1,
      lines: [expect.stringContaining(`cannot read kubeconfig ${path}: ENOENT`)],
    });
  });

  test("when the kubeconfig is not a kubeconfig", async () => {
    const path = await file("broken.kubeconfig", "clusters: [}");
    expect(await lastWords(startController(provider("none"), `--kubeconfig=${path}`))).toEqual({
      code: 1,
      lines: [expect.stringContaining(`kubeconfig ${path} is not a valid kubeconfig`)],
    });
  });

  test("when the kubeconfig has no current context", async () => {
    const path = await file(
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
      lines: [expect.stringContaining("(not in a pod?); pass --kubeconfig")],
    });
  });

  test("when its health address is taken", async () => {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const program = startController(provider("none"), kubeconfig(), `--health-bind-address=127.0.0.1:${port}`);
    expect(await lastWords(program)).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(
          /^cloudwire-controller-manager: --health-bind-address: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
        ),
      ],
    });
  });
});

describe("the controller goes on, and says what is wrong", () => {
  test("when it is given the cloud's own file", async () => {
    const program = startController(provider("missing"), kubeconfig(), "--cloud-config=/x");
    const [line] = await program.said(/.*--cloud-config.*\n/);
    expect(line).toContain("WARN");
    expect(line).toContain("the file is not passed on: the provider sidecar has the settings of the cloud");
    await program.said(/Waiting for leadership/);
  });

  test("while the cloud of its only provider is down", async () => {
    await startSidecarWithoutCloud("cloudless");
    const program = startController(provider("cloudless"), kubeconfig(), "--leader-elect=false");
    await program.said(/Controller started/);
    const ask = async (): Promise<Page | undefined> => {
      const answer = await readyz(program);
      return answer.status === 200 ? answer : undefined;
    };
    const { text } = await eventually("the controller to be ready", 30_000, ask, () => program.output);
    expect(text).toContain("[+]provider ok\n");
    expect(text).toContain("[+]provider-acme ok, but: the provider has not reached its cloud yet");
    expect(await liveness(program)).toEqual([200, 200]);
    expect(program.output).not.toMatch(STACK);
  });
});

describe("the controller waits, says why and is not ready", () => {
  test("while the provider's socket is missing", async () => {
    const program = startController(provider("missing"), kubeconfig(), "--leader-elect=false");
    await program.said(/does not exist/);
    await program.said(/Controller started/);
    const answer = await readyz(program);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain(`[-]provider failed: provider acme: `);
    expect(answer.text).toContain(socketAt("missing"));
    expect(await liveness(program)).toEqual([200, 200]);
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
    const { path } = await controlPlane.kubeconfigFor("unprivileged");
    const program = startController(provider("missing"), `--kubeconfig=${path}`);
    await program.said(/namespaces.*grant the permission in the ClusterRole/);
    const answer = await readyz(program);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("[-]cluster-identity failed: ");
    expect(answer.text).toContain("grant the permission in the ClusterRole");
    expect(program.output).not.toMatch(STACK);
  });

  test("while no one answers at the API server's address", async () => {
    const content = controlPlane.adminKubeconfig.content.replace(controlPlane.server, "https://127.0.0.1:1");
    const path = await file("unreachable.kubeconfig", content);
    const program = startController(provider("missing"), `--kubeconfig=${path}`);
    await program.said(/ECONNREFUSED/);
    expect((await readyz(program)).status).toBe(500);
    expect(program.running).toBe(true);
    expect(program.output).not.toMatch(STACK);
  });
});
