import { randomUUID } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { Client, credentials } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { invoke, invokeOk } from "../../test/support/invoke.ts";
import { eventually, temporaryDirectory } from "../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;
const packageDirectory = join(import.meta.dirname, "..", "..");

/** A process and all it has said. */
interface Spawned {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly exit: Promise<number | null>;
}

const minimal = `
import { absent, serveProvider } from "@cloudwire/provider-sdk";
await serveProvider({
  name: "acme.example.com", version: "1.0.0", idPrefix: "acme://", scope: "account-42", check: () => undefined,
  instances: { get: HANDLER },
});
`;

const prompt = minimal.replace("HANDLER", '() => absent("LOOKUP_MISS")');
const slow = minimal.replace("HANDLER", "() => new Promise(() => undefined)");

/** A program inside this package, so that it finds the SDK as a vendor's does; among what no tool looks at. */
const programFile = async (source: string): Promise<string> => {
  const directory = join(packageDirectory, "dist", ".test");
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${randomUUID()}.ts`);
  await writeFile(file, source);
  onTestFinished(() => rm(file, { force: true }));
  return file;
};

const run = async (source: string, env: Readonly<Record<string, string>>): Promise<Spawned> => {
  const file = await programFile(source);
  const child = spawn(process.execPath, ["--conditions=development", file], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  const exit = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { child, said: () => chunks.join(""), exit };
};

/** What the compiler says of a program, under the rules of a strict project. */
const typeErrors = async (source: string): Promise<string> => {
  const file = await programFile(source);
  const options = [
    "--noEmit",
    "--ignoreConfig",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
  ];
  const target = ["--module", "nodenext", "--target", "es2024", "--types", "node", "--customConditions", "development"];
  const allowed = ["--allowImportingTsExtensions", "--erasableSyntaxOnly", "--skipLibCheck"];
  const child = spawn("tsc", [...options, ...target, ...allowed, file], {
    cwd: packageDirectory,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  await new Promise((resolve) => {
    child.once("close", resolve);
  });
  return chunks.join("");
};

const socketIn = async () => join(await temporaryDirectory(), "provider.sock");

const clientOf = (path: string): Client => {
  const client = new Client(`unix://${path}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  return client;
};

const serving = (spawned: Spawned) => eventually(() => spawned.said().includes('"Serving"'), 20_000);

describe("serveProvider()", () => {
  test("serves the README's smallest provider, which has at most 30 lines", async () => {
    const readme = await readFile(join(packageDirectory, "README.md"), "utf8");
    const source =
      /<!-- snippet: smallest-provider -->\n```ts\n(?<source>.*?)```/s.exec(readme)?.groups?.["source"] ?? "";
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
    expect(await typeErrors(source)).toBe("");
    const cloud = await startAcme();
    const path = await socketIn();
    const spawned = await run(source, { CLOUD_PROVIDER_ENDPOINT: `unix://${path}`, ACME_URL: cloud.url });
    await serving(spawned);
    const client = clientOf(path);
    const context = { cluster: { id: "cluster-1" }, scopeId: "account-42" };
    await eventually(async () => (await invokeOk(client, methods.getProviderStatus, {})).ready);
    const { results, stats } = await invokeOk(client, methods.batchGetInstances, {
      context,
      nodes: [{ name: "web-1" }, { name: "web-2", providerId: "acme://m-9" }],
    });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["instance", "absent"]);
    expect(stats?.cloudCalls).toBe(2);
    const service = { namespace: "default", name: "web", uid: "uid-1" };
    const ensured = await invokeOk(client, methods.ensureLoadBalancer, {
      context,
      change: { requestId: "r-1" },
      service,
      spec: { ports: [{ protocol: 1, port: 80, nodePort: 30_080 }] },
      specFingerprint: "spec-1",
      nodes: {
        fingerprint: "nodes-1",
        count: 1,
        source: {
          $case: "inline",
          value: {
            nodes: [{ name: "web-1", providerId: "acme://m-1", addresses: [{ type: 1, address: "10.0.0.1" }] }],
          },
        },
      },
    });
    expect(ensured.loadBalancer).toMatchObject({
      id: "lb-1",
      ingress: { items: [{ ip: "192.0.2.1" }] },
      specFingerprint: "spec-1",
    });
    const deleted = await invokeOk(client, methods.deleteLoadBalancer, {
      context,
      change: { requestId: "r-2" },
      service,
    });
    expect(deleted.done).toBe(true);
    expect(cloud.changes).toEqual([
      expect.stringMatching(/^PUT \/lbs\/k8s-[0-9a-f]{28} .*"targets":\["10.0.0.1"\]/),
      expect.stringMatching(/^DELETE \/lbs\/k8s-[0-9a-f]{28} $/),
    ]);
  });

  test.each([
    ["SIGTERM", ["SIGTERM"]],
    ["one request that comes as two signals", ["SIGTERM", "SIGINT"]],
  ] as const)("ends in order with code 0 on %s and removes its socket", async (_what, signals) => {
    const path = await socketIn();
    const spawned = await run(prompt, { CLOUD_PROVIDER_ENDPOINT: `unix://${path}` });
    await serving(spawned);
    for (const signal of signals) spawned.child.kill(signal);
    expect(await spawned.exit).toBe(0);
    await expect(readFile(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("turns the log level debug on and off on SIGUSR2, and serves on", async () => {
    const spawned = await run(prompt, { CLOUD_PROVIDER_ENDPOINT: `unix://${await socketIn()}` });
    await serving(spawned);
    const changes = () => spawned.said().match(/The log level has changed","to":"\w+/g) ?? [];
    spawned.child.kill("SIGUSR2");
    await eventually(() => changes().length === 1);
    spawned.child.kill("SIGUSR2");
    await eventually(() => changes().length === 2);
    expect(changes().map((line) => line.slice(line.lastIndexOf('"') + 1))).toEqual(["debug", "info"]);
    spawned.child.kill("SIGTERM");
    expect(await spawned.exit).toBe(0);
  });

  test("serves probes where the environment says so, and not where it makes no sense", async () => {
    const endpoint = `unix://${await socketIn()}`;
    const wrong = await run(prompt, { CLOUD_PROVIDER_ENDPOINT: endpoint, CLOUD_PROVIDER_HTTP_ADDRESS: "nine" });
    expect(await wrong.exit).toBe(78);
    expect(wrong.said()).toBe(
      'acme.example.com: CLOUD_PROVIDER_HTTP_ADDRESS is "nine"; use host:port, for example :9102\n',
    );
    const right = await run(prompt, { CLOUD_PROVIDER_ENDPOINT: endpoint, CLOUD_PROVIDER_HTTP_ADDRESS: "127.0.0.1:0" });
    await serving(right);
    const [, address] = /"httpAddress":"([^"]+)"/.exec(right.said()) ?? [];
    expect((await fetch(`http://${address}/livez`)).status).toBe(200);
  });

  test("ends at once on a second signal, while calls are still under way", async () => {
    const path = await socketIn();
    const spawned = await run(slow, { CLOUD_PROVIDER_ENDPOINT: `unix://${path}` });
    await serving(spawned);
    const context = { cluster: { id: "cluster-1" }, scopeId: "account-42" };
    const outcome = invoke(clientOf(path), methods.batchGetInstances, { context, nodes: [{ name: "n1" }] });
    await invokeOk(clientOf(path), methods.getProviderStatus, {});
    spawned.child.kill("SIGTERM");
    await eventually(() => spawned.said().includes("Shutting down"));
    // What comes within a moment is the same request.
    const again = setInterval(() => spawned.child.kill("SIGTERM"), 100);
    onTestFinished(() => clearInterval(again));
    expect(await spawned.exit).toBe(1);
    expect((await outcome).kind).toBe("error");
  });

  test("prints every mistake in the definition, in plain lines, and exits with code 78", async () => {
    const wrong = `
import { serveProvider } from "@cloudwire/provider-sdk";
await serveProvider({ name: "Acme!", version: "", idPrefix: "acme", scope: "", loadBalancer: {}, instances: { get: 1 } });
`;
    const spawned = await run(wrong, { CLOUD_PROVIDER_ENDPOINT: `unix://${await socketIn()}` });
    expect(await spawned.exit).toBe(78);
    const lines = spawned.said().trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringContaining("loadBalancer is not known; known are annotationPrefixes"),
      expect.stringContaining("check must be a function"),
      expect.stringContaining("scope must name what the credentials reach"),
      expect.stringContaining('idPrefix "acme" must be a scheme'),
      expect.stringContaining("instances.get must be a function"),
    ]);
  });

  test.each([
    ["no endpoint", {}, "CLOUD_PROVIDER_ENDPOINT is not set"],
    ["a relative path", { CLOUD_PROVIDER_ENDPOINT: "unix:provider.sock" }, "the path must be absolute"],
    ["plaintext TCP", { CLOUD_PROVIDER_ENDPOINT: "tcp://0.0.0.0:0" }, "needs TLS with client certificates"],
    [
      "plaintext TCP beyond loopback",
      { CLOUD_PROVIDER_ENDPOINT: "tcp://0.0.0.0:0", CLOUD_PROVIDER_INSECURE_LOOPBACK: "true" },
      "plaintext is served on loopback only",
    ],
  ])("refuses %s in one line with code 78", async (_title, env, message) => {
    const spawned = await run(prompt, env);
    expect(await spawned.exit).toBe(78);
    expect(spawned.said().trimEnd().split("\n")).toEqual([expect.stringContaining(message)]);
  });

  test("ends with code 69 and one line when another process has the socket", async () => {
    const path = await socketIn();
    const env = { CLOUD_PROVIDER_ENDPOINT: `unix://${path}` };
    await serving(await run(prompt, env));
    const second = await run(prompt, env);
    expect(await second.exit).toBe(69);
    expect(second.said()).toBe(
      `acme.example.com: another process listens on ${path}; stop it or give another endpoint\n`,
    );
  });

  test("lives on when a promise fails that no handler waits for, and says so", async () => {
    const path = await socketIn();
    const failing = `${prompt}\nvoid Promise.reject(new Error("the cloud is down"));`;
    const spawned = await run(failing, { CLOUD_PROVIDER_ENDPOINT: `unix://${path}` });
    await eventually(() => spawned.said().includes("Unhandled promise rejection"));
    spawned.child.kill("SIGTERM");
    expect(await spawned.exit).toBe(0);
  });

  test("writes a crash of the provider as a line of its log and ends with code 1", async () => {
    const crashing = `${prompt}\nsetTimeout(() => { throw new Error("a bug of the vendor"); }, 10);`;
    const spawned = await run(crashing, { CLOUD_PROVIDER_ENDPOINT: `unix://${await socketIn()}` });
    expect(await spawned.exit).toBe(1);
    const last = spawned.said().trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({
      level: "error",
      message: "The provider crashed",
      error: { message: "a bug of the vendor" },
    });
  });
});

/** The cloud of the README. */
const startAcme = async (): Promise<{ readonly url: string; readonly changes: string[] }> => {
  const changes: string[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "" } = request;
      if (method !== "GET") changes.push(`${method} ${url} ${Buffer.concat(chunks).toString()}`);
      response.end(JSON.stringify(answer(method, url)));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${portOf(server.address())}`, changes };
};

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address ? address.port : 0;

const answer = (method: string, url: string): unknown => {
  if (method === "PUT") return { id: "lb-1", ip: "192.0.2.1" };
  if (url === "/machines?name=web-1")
    return [{ id: "m-1", name: "web-1", size: "large", zone: "a", ips: ["10.0.0.1"], on: true }];
  return [];
};
