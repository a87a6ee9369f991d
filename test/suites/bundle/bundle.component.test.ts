import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { CloudClient, spawnCloud, type SpawnedCloud } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundledProgram, makeBundles, type ShippedProgram } from "../../support/bundles.ts";
import { eventually } from "../../support/eventually.ts";
import { at, listOf } from "../../support/kube.ts";
import { type Exit, Program } from "../../support/program.ts";

const CONTROLLER = "cloudwire-controller-manager";
const SIDECAR = "cloudwire-provider-simulated";
const CLI = "cloudwire";
const CLOUD_KEY = "bundle-key";
/** Also a JSON web token, for those who look into it: without signature, valid until 2100. */
const TOKEN = [{ alg: "none" }, { exp: 4_102_444_800 }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".");

const SIGNED_IN = /Watching resource=nodes/;

let directory: string;
let cluster: DevCluster;
let cloud: SpawnedCloud;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "bundle-"));
  await makeBundles(directory);
  const users = [{ name: "controller", groups: ["system:masters"], token: TOKEN }];
  cluster = await startDevCluster({ anonymous: false, users });
  cloud = await spawnCloud({ flags: { account: `bundle=${CLOUD_KEY}` } });
  await writeFile(join(directory, "token"), `${TOKEN}\n`);
});

afterAll(async () => {
  await cloud.stop("SIGKILL");
  await cluster.close();
  await rm(directory, { recursive: true, force: true });
});

interface Start {
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function start(name: ShippedProgram, args: readonly string[], { nodeFlags = [], env = {} }: Start = {}): Program {
  return new Program({
    command: process.execPath,
    args: [...nodeFlags, bundledProgram(directory, name), ...args],
    env,
  });
}

async function endOf(...parameters: Parameters<typeof start>): Promise<Exit & { readonly output: string }> {
  await using program = start(...parameters);
  const exit = await program.exit();
  return { ...exit, output: program.output };
}

/** A flag of Node that runs this before the program. */
const first = (code: string): string => `--import=data:text/javascript,${encodeURIComponent(code)}`;

async function startController(user: object, socket: string, options?: Start): Promise<Program> {
  const path = join(directory, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: cluster.url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(path, JSON.stringify(config));
  const provider = `--provider=simulated=unix://${socket}`;
  return start(
    CONTROLLER,
    [
      `--kubeconfig=${path}`,
      provider,
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      "--status-page-bind-address=127.0.0.1:0",
    ],
    options,
  );
}

function startSidecar(socket: string): Program {
  return start(SIDECAR, [`--cloud-url=${cloud.url}`], {
    env: { CLOUD_PROVIDER_ENDPOINT: `unix://${socket}`, SIMCLOUD_API_KEY: CLOUD_KEY },
  });
}

describe("a bundled program", () => {
  test.each<{ name: ShippedProgram; args: readonly string[]; code: number; says: RegExp }>([
    { name: CONTROLLER, args: ["--version"], code: 0, says: /^cloudwire-controller-manager \d+\.\d+\.\d+\n$/ },
    { name: CONTROLLER, args: ["--help"], code: 0, says: /--leader-elect-lease-duration/ },
    { name: CONTROLLER, args: ["--sped=1"], code: 64, says: /--sped: is not a flag/ },
    { name: SIDECAR, args: ["--help"], code: 0, says: /--cloud-url/ },
    { name: SIDECAR, args: ["--sped=1"], code: 78, says: /--sped/ },
    { name: CLI, args: ["version"], code: 0, says: /^cloudwire \d+\.\d+\.\d+\n$/ },
    { name: CLI, args: ["explain", "--sped=1", "node/a"], code: 2, says: /explain: unknown option --sped/ },
    {
      name: CLI,
      args: ["status", "--server=https://127.0.0.1:1"],
      code: 1,
      says: /cannot reach the controller at .*: connect ECONNREFUSED/,
    },
    { name: CLI, args: ["status", "--kubeconfig=/nowhere"], code: 1, says: /cannot read the kubeconfig/ },
  ])("$name $args ends with code $code", async ({ name, args, code, says }) => {
    expect(await endOf(name, args)).toEqual({ code, signal: null, output: expect.stringMatching(says) });
  });

  test.each<ShippedProgram>([CONTROLLER, SIDECAR, CLI])(
    "%s says which Node it needs when it is started on another",
    async (name) => {
      const other = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })';
      expect(await endOf(name, ["--help"], { nodeFlags: [first(other)] })).toEqual({
        code: 1,
        signal: null,
        output: expect.stringMatching(/^this program needs Node >=24.21.0 <25, but \S+ is Node 20.1.0; [^\n]+\n$/),
      });
    },
  );

  test.each([
    { flags: [], where: /at command \(file:\S+\/program\.mjs:\d+:\d+\)/ },
    { flags: ["--enable-source-maps"], where: /at command \(\S+\/controller\/src\/main\.ts:\d+:\d+\)/ },
  ])("shows with $flags where an error came from", async ({ flags, where }) => {
    const broken = 'process.stdout.write = () => { throw new RangeError("planted"); }';
    expect(await endOf(CONTROLLER, ["--version"], { nodeFlags: [...flags, first(broken)] })).toEqual({
      code: 1,
      signal: null,
      output: expect.stringMatching(where),
    });
  });

  test.each<ShippedProgram>([CONTROLLER, SIDECAR])("%s comes with the licenses of what is in it", async (name) => {
    const notices = await readFile(join(directory, name, "THIRD_PARTY_NOTICES.txt"), "utf8");
    expect(notices).toMatch(/@grpc\/grpc-js [\d.]+, license Apache-2\.0\n\nApache License/);
  });
});

describe("the bundled controller", () => {
  const nowhere = (): string => join(directory, "absent.sock");

  test("has the status page, with all that it asks for, and the licenses of what is in it", async () => {
    await using controller = await startController({ token: TOKEN }, nowhere());
    const [, page = ""] = await controller.said(/statusPage=(http:\S+)/);
    const html = await (await fetch(page, { signal: AbortSignal.timeout(10_000) })).text();
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = ""]) => name);
    const answers = await Promise.all(files.map((name) => fetch(new URL(name, page))));
    expect(Object.fromEntries(files.map((name, index) => [name, answers[index]?.headers.get("content-type")]))).toEqual(
      {
        "app.js": "text/javascript; charset=utf-8",
        "app.css": "text/css; charset=utf-8",
        "icon.svg": "image/svg+xml",
      },
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await readFile(join(directory, CONTROLLER, "THIRD_PARTY_NOTICES.txt"), "utf8")).toMatch(
      /preact [\d.]+, license MIT/,
    );
    await controller.stop("SIGTERM");
  });

  test("becomes a process with its settings under the same process id, keeps what it was given, and ends on SIGTERM", async () => {
    const options = { nodeFlags: ["--no-deprecation"], env: { MALLOC_ARENA_MAX: "3" } };
    await using controller = await startController({ token: TOKEN }, nowhere(), options);
    const [, url] = await controller.said(/health=(http:\S+)/);
    const health = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) });
    expect(health.status).toBe(200);
    const [, ...commandLine] = (await readFile(`/proc/${controller.pid}/cmdline`, "utf8")).split("\0");
    const environment = (await readFile(`/proc/${controller.pid}/environ`, "utf8")).split("\0");
    expect(commandLine.slice(0, 3)).toEqual([
      "--max-semi-space-size=4",
      "--heap-growing-percent=50",
      "--no-deprecation",
    ]);
    expect(environment).toContain("MALLOC_ARENA_MAX=3");
    expect(await controller.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: TOKEN },
  };
  const exec = {
    apiVersion: credential.apiVersion,
    interactiveMode: "Never",
    command: "echo",
    args: [JSON.stringify(credential)],
  };
  const oidc = { "client-id": "c", "idp-issuer-url": "https://127.0.0.1:1", "id-token": TOKEN, "refresh-token": "r" };
  test.each([
    { how: "a token file", user: () => ({ tokenFile: "token" }) },
    { how: "an exec plugin", user: () => ({ exec }) },
    { how: "OIDC", user: () => ({ "auth-provider": { name: "oidc", config: oidc } }) },
  ])("signs in with $how", async ({ user }) => {
    await using controller = await startController(user(), nowhere());
    expect(await controller.said(SIGNED_IN)).not.toBeNull();
    await controller.stop("SIGTERM");
  });
});

test("the bundled programs together initialize a node", async () => {
  const socket = join(directory, "provider.sock");
  await using sidecar = startSidecar(socket);
  await sidecar.said(/provider ready/);
  await using controller = await startController({ token: TOKEN }, socket);
  await new CloudClient({ url: cloud.url, apiKey: CLOUD_KEY }).createInstances(
    [{ name: "bundled-1", zone: "north-a" }],
    AbortSignal.timeout(10_000),
  );
  cluster.seed({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "bundled-1" },
    spec: { taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }] },
  });
  const providerId = await eventually(
    "the node to be initialized",
    30_000,
    async () => {
      const node = cluster.read("v1", "Node", "", "bundled-1");
      return listOf(at(node, "spec", "taints")).length === 0 ? at(node, "spec", "providerID") : undefined;
    },
    () => controller.output + sidecar.output,
  );
  expect(providerId).toMatch(/^sim:\/\/north-a\//);
  await controller.stop("SIGTERM");
  expect(await sidecar.stop("SIGTERM")).toEqual({ code: 0, signal: null });
});

test("the bundled sidecar describes itself to a client without its .proto files", async () => {
  const socket = join(directory, "described.sock");
  await using sidecar = startSidecar(socket);
  await sidecar.said(/provider ready/);
  const transport = ["--protocol=grpc", "--http2-prior-knowledge", `--unix-socket=${socket}`];
  const { stdout } = await promisify(execFile)("buf", ["curl", ...transport, "--list-methods", "http://localhost"]);
  expect(stdout).toContain("cloudprovider.v1.CloudProvider/");
  await sidecar.stop("SIGTERM");
});
