import { access, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { AdminClient, loopbackPools, spawnCloud, type SpawnedCloud } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, type Json, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";

const CLOUD_KEY = "cloud-key-that-must-stay-secret";
const TOKEN = "cluster-token-that-must-stay-secret";
const SETTLED_MS = 60_000;
const USAGE = 64;
const CHANGES = /^(Ensure|Delete|Update|Apply|BatchEnsure|BatchDelete)/;

let directory: string;
let cluster: DevCluster;
let cloud: SpawnedCloud;
let sidecar: Program;
let admin: AdminClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "audit-"));
  const users = [{ name: "controller", groups: ["system:masters"], token: TOKEN }];
  cluster = await startDevCluster({ users });
  await writeFile(join(directory, "kubeconfig"), cluster.kubeconfig(TOKEN));
  const { instancePool, loadBalancerPool } = loopbackPools(process.pid);
  cloud = await spawnCloud({
    flags: { account: `audited=${CLOUD_KEY}`, "instance-pool": instancePool, "load-balancer-pool": loadBalancerPool },
  });
  admin = new AdminClient({ url: cloud.url });
  sidecar = new Program({
    source: "providers/simulated/src/sidecar/main.ts",
    args: [`--cloud-url=${cloud.url}`],
    env: {
      CLOUD_PROVIDER_ENDPOINT: `unix://${join(directory, "provider.sock")}`,
      CLOUD_PROVIDER_LOG_LEVEL: "debug",
      SIMCLOUD_API_KEY: CLOUD_KEY,
    },
  });
  await sidecar.said(/provider ready/);
}, 120_000);

afterAll(async () => {
  await sidecar[Symbol.asyncDispose]();
  await cloud.stop("SIGKILL");
  await cluster.close();
  await rm(directory, { recursive: true, force: true });
});

function startController(args: readonly string[]): Program {
  return new Program({
    source: "controller/src/main.ts",
    args: [
      `--kubeconfig=${join(directory, "kubeconfig")}`,
      `--provider=simulated=unix://${join(directory, "provider.sock")}`,
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      "--leader-elect=false",
      ...args,
    ],
  });
}

const SERVICE = "/api/v1/namespaces/default/services/web";

/** Asks the cluster as its administrator. */
async function ask(method: "PATCH" | "DELETE", body?: object): Promise<void> {
  const headers = { "content-type": "application/merge-patch+json" };
  const signal = AbortSignal.timeout(10_000);
  const more = body === undefined ? {} : { body: JSON.stringify(body), headers };
  const { status } = await fetch(`${cluster.url}${SERVICE}`, { method, signal, ...more });
  expect(status).toBe(200);
}

function seedService(): void {
  cluster.seed({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default", annotations: { "example.com/secret": "annotation-value" } },
    spec: { type: "LoadBalancer", selector: { app: "web" }, ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }] },
  });
}

const linesOf = (text: string): readonly Json[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Json => JSON.parse(line));

/** Changing calls as the provider answered them, in that order. */
function seenByProvider(): readonly unknown[] {
  return linesOf(sidecar.output)
    .filter((line) => line["message"] === "Answered" && CHANGES.test(String(line["method"])))
    .map((line) => [line["method"], line["requestID"], line["code"]]);
}

/** A Service's life: made, changed, deleted. */
async function live(controller: Program): Promise<void> {
  const until = (what: string, ask: () => Promise<boolean> | boolean): Promise<true> =>
    eventually(
      what,
      SETTLED_MS,
      async () => ((await ask()) ? true : undefined),
      () => controller.output,
    );
  const service = (): unknown => cluster.read("v1", "Service", "default", "web");
  const { length: before } = seenByProvider();
  seedService();
  await until("an address", () => listOf(at(service(), "status", "loadBalancer", "ingress")).length > 0);
  const { length: made } = seenByProvider();
  expect(made).toBeGreaterThan(before);
  await ask("PATCH", { spec: { ports: [{ port: 81, nodePort: 30_080, protocol: "TCP" }] } });
  await until("a change at the provider", () => seenByProvider().length > made);
  await ask("DELETE");
  await until("the end of the Service", () => service() === undefined);
}

async function endOf(controller: Program): Promise<number | null> {
  return (await controller.stop()).code;
}

describe("the audit log of the program", () => {
  test("has each change that the provider saw of a Service's life, in order, and no secret", async () => {
    const path = join(directory, "audit.log");
    await using controller = startController([`--audit-log-path=${path}`]);
    const { length: before } = seenByProvider();
    const { length: calls } = await admin.log(10_000);
    await live(controller);
    expect(await endOf(controller)).toBe(0);
    const text = await readFile(path, "utf8");
    const lines = linesOf(text);
    expect(lines.map(({ method, requestID, code }) => [method, requestID, code])).toEqual(
      seenByProvider().slice(before),
    );
    expect(lines.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
    expect(lines[0]).toMatchObject({
      controller: "service-lb-controller",
      key: "default/web",
      trigger: "service created",
      provider: "simulated",
      method: "EnsureLoadBalancer",
      validateOnly: false,
      service: { namespace: "default", name: "web" },
      code: "OK",
    });
    expect(lines.at(-1)).toMatchObject({ method: "DeleteLoadBalancer", trigger: "service deleted", done: true });
    const sequences = lines.map(({ sequence }) => BigInt(String(sequence)));
    expect(sequences).toEqual(sequences.toSorted((left, right) => (left < right ? -1 : 1)));
    // What the cloud says that was changed there, found again by its own ids.
    const changed = (await admin.log(10_000)).slice(calls).filter(({ mutating, status }) => mutating && status < 300);
    const recorded = lines.flatMap(({ cloudRequestIDs }) => listOfTexts(cloudRequestIDs));
    expect(changed.length).toBeGreaterThan(2);
    expect(changed.filter(({ requestId }) => !recorded.includes(requestId))).toEqual([]);
    for (const secret of [CLOUD_KEY, TOKEN, "annotation-value"]) expect(text).not.toContain(secret);
  });

  test("goes to standard output on request, with the log on standard error", async () => {
    await using controller = startController(["--audit-log-path=-"]);
    const { length: before } = seenByProvider();
    await live(controller);
    expect(await endOf(controller)).toBe(0);
    expect(linesOf(controller.output).map(({ method, requestID, code }) => [method, requestID, code])).toEqual(
      seenByProvider().slice(before),
    );
  });

  test("opens its file again at SIGHUP", async () => {
    const path = join(directory, "rotated.log");
    await using controller = startController([`--audit-log-path=${path}`]);
    await controller.said(/Started/);
    await rename(path, `${path}.old`);
    process.kill(controller.pid, "SIGHUP");
    await eventually("a new file", SETTLED_MS, async () => ((await isThere(path)) ? true : undefined));
    await live(controller);
    expect(await endOf(controller)).toBe(0);
    expect(await readFile(`${path}.old`, "utf8")).toBe("");
    expect(linesOf(await readFile(path, "utf8")).length).toBeGreaterThan(2);
  });

  test("that cannot be opened ends the start with one line", async () => {
    const path = join(directory, "none", "audit.log");
    await using controller = startController([`--audit-log-path=${path}`]);
    expect(await controller.exit()).toEqual({ code: USAGE, signal: null });
    expect(controller.output).toMatch(
      /^cloudwire-controller-manager: --audit-log-path: \S+: cannot be opened for writing: ENOENT.*\n$/,
    );
  });
});

function listOfTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
