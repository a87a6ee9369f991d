import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AdminClient, CloudClient, type FaultSpec, spawnCloud, spawnSidecar } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import { shareWithContainers } from "../support/containers.ts";
import { eachHarness } from "../support/each-harness.ts";
import { type Mutation, startMutantProvider } from "../support/providers/mutant-provider.ts";
import { API_KEY, Harness } from "../support/harness.ts";

const WEB = "/api/v1/namespaces/default/services/web";
const SETTLED_MS = 60_000;
const CALL_MS = 10_000;
const MACHINES = ["recorded-1", "recorded-2", "recorded-3"].map((name) => ({ name, zone: "north-a" }));
const PORTS = [
  { name: "a", port: 8391 },
  { name: "b", port: 8392 },
];

let harness: Harness;
let directory: string;
/** Made once: what every test replays. */
let recorded: Promise<readonly string[]> | undefined;

eachHarness((fresh) => {
  harness = fresh;
});
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "replay-"));
  await shareWithContainers(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function until(harness: Harness, what: string, ask: () => Promise<boolean>): Promise<void> {
  const answer = async () => ((await ask()) ? true : undefined);
  await eventually(what, SETTLED_MS, answer, () => harness.outputs());
}

const service = (harness: Harness) => harness.kube.find(WEB);

/** A Service's whole life as the cluster sees it: nodes before it, a port more, a node more, a node less, its end. */
async function live(harness: Harness): Promise<readonly string[]> {
  for (const name of ["recorded-1", "recorded-2"]) await harness.registerNode(name);
  await harness.initialized("recorded-1");
  await harness.initialized("recorded-2");
  const states: string[] = [];
  await harness.createService("web", 8391);
  states.push(`address ${await harness.addressed("web")}`);
  await harness.kube.send("PATCH", WEB, { spec: { ports: PORTS } });
  const published = async () =>
    listOf(at(await service(harness), "status", "loadBalancer", "ingress", 0, "ports")).length;
  await until(harness, "two ports", async () => (await published()) === 2);
  states.push("two ports");
  await harness.registerNode("recorded-3");
  const { spec } = await harness.initialized("recorded-3");
  states.push(`third machine ${String(at(spec, "providerID"))}`);
  await harness.hasEvents("Service", "web", "UpdatedLoadBalancer");
  await harness.kube.delete("/api/v1/nodes/recorded-1");
  return states;
}

async function endOfService(harness: Harness): Promise<void> {
  await harness.kube.delete(WEB);
  await until(harness, "the end of the Service", async () => (await service(harness)) === undefined);
}

/** The report of a replay. */
function reportOf(output: string): Json {
  const report: Json = JSON.parse(output);
  return report;
}

interface Recorded {
  readonly path: string;
  readonly lines: readonly Json[];
  readonly states: readonly string[];
}

/** A recording of it, made by the first test that wants one. */
async function recording(): Promise<Recorded> {
  recorded ??= record().catch((error: unknown) => {
    recorded = undefined;
    throw error;
  });
  const states = await recorded;
  const path = join(directory, "provider.rec");
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return { path, states, lines: lines.map((line): Json => JSON.parse(line)) };
}

async function record(): Promise<readonly string[]> {
  await rm(join(directory, "provider.rec"), { force: true });
  // Of its own: what it leaves is gone before anything is replayed.
  await using own = await Harness.start(harness.controlPlane);
  await own.createMachines(MACHINES);
  await own.startSidecar();
  const controller = own.startController({ args: [`--record-provider=${join(directory, "provider.rec")}`] });
  await controller.said(/Became leader/, SETTLED_MS);
  const states = await live(own);
  const names = async () => own.targetNames((await own.loadBalancers())[0]?.id ?? "");
  await until(own, "two targets", async () => (await names()).join(" ") === "recorded-2 recorded-3");
  await endOfService(own);
  await controller.stop();
  return states;
}

/** Number of the nth call of a method in the recording. */
function callNumber({ lines }: Recorded, method: string, nth = 1): number {
  const calls = lines.filter((line) => line["kind"] === "start" && line["method"] === method);
  return Number(calls.at(nth - 1)?.["call"]);
}

interface FreshCloud extends AsyncDisposable {
  readonly url: string;
  readonly admin: AdminClient;
}

/** A cloud as it was before the recording: the same machines, and nothing else. */
async function freshCloud(seed = "1"): Promise<FreshCloud> {
  const cloud = await spawnCloud({ flags: { account: `system=${API_KEY}`, seed } });
  const client = new CloudClient({ url: cloud.url, apiKey: API_KEY });
  await client.createInstances(MACHINES, AbortSignal.timeout(CALL_MS));
  const admin = new AdminClient({ url: cloud.url });
  return { url: cloud.url, admin, [Symbol.asyncDispose]: () => cloud.stop("SIGKILL").then(() => undefined) };
}

async function replay(args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  await using program = new Program({ source: "cli/src/main.ts", args: ["replay", ...args] });
  const { code } = await program.exit(SETTLED_MS);
  return { code, output: program.output };
}

/** The report of a replay against the simulated provider before a fresh cloud. */
async function against(path: string, { seed, fault }: { readonly seed?: string; readonly fault?: FaultSpec } = {}) {
  await using cloud = await freshCloud(seed);
  const socketPath = join(directory, "fresh.sock");
  const sidecar = await spawnSidecar({ socketPath, cloudUrl: cloud.url, apiKey: API_KEY });
  try {
    if (fault !== undefined) await cloud.admin.addFault(fault);
    return await replay([path, `--against=unix://${socketPath}`, "-o", "json"]);
  } finally {
    await sidecar.stop("SIGTERM");
  }
}

describe("a recording of a Service's life", () => {
  beforeEach(recording);

  test("has every call from the handshake to the end of the load balancer, and no secret", async () => {
    const { lines, path } = await recording();
    expect(lines[0]).toMatchObject({ kind: "header", providers: [{ name: "simulated" }] });
    expect(lines.at(-1)).toMatchObject({ kind: "footer" });
    const calls = lines.filter(({ kind }) => kind === "start");
    const ended = lines.filter(({ kind, code }) => kind === "end" && code === "OK");
    expect(new Set(ended.map(({ call }) => call))).toEqual(new Set(calls.map(({ call }) => call)));
    expect(calls[0]).toMatchObject({ method: "GetProviderInfo" });
    expect(calls.at(-1)).toMatchObject({ method: "DeleteLoadBalancer", request: { service: { name: "web" } } });
    expect(readFileSync(path, "utf8")).not.toContain(API_KEY);
  });

  test("replays without a difference against a fresh provider, twice byte by byte, and with other ids too", async () => {
    const { path, lines } = await recording();
    const calls = lines.filter(({ kind }) => kind === "start").length;
    const first = await against(path);
    expect(first).toMatchObject({ code: 0 });
    expect(reportOf(first.output)).toMatchObject({ compared: calls, differences: [], uncompared: [] });
    expect(await against(path)).toEqual(first);
    expect(await against(path, { seed: "77" })).toEqual(first);
  });

  test("fails against a cloud that denies a machine at the first call that asks for one", async () => {
    const all = await recording();
    const { code, output } = await against(all.path, { fault: { kind: "falseAbsence", operation: "instances.*" } });
    expect(code).toBe(1);
    const [difference] = listOf(reportOf(output)["differences"]);
    expect(difference).toMatchObject({ call: callNumber(all, "BatchGetInstances"), method: "BatchGetInstances" });
    expect(difference?.["field"]).toBe("results[0].instance");
  });

  const ports: Mutation = (correct) => ({
    ...correct,
    ensure: (wanted, context) => correct.ensure({ ...wanted, ports: wanted.ports.slice(0, 1) }, context),
  });
  const targets: Mutation = (correct) => ({
    ...correct,
    updateNodes: (wanted, context) => {
      if (correct.updateNodes === undefined) throw new Error("the simulated provider has updateNodes");
      return correct.updateNodes({ ...wanted, nodes: wanted.nodes.slice(0, 1) }, context);
    },
  });
  /** The recorded name of a thing stands for one live name. */
  const ids: Mutation = (correct) => {
    let made = 0;
    return {
      ...correct,
      ensure: async (wanted, context) => {
        const answer = await correct.ensure(wanted, context);
        return answer === undefined || answer.kind === "pending" ? answer : { ...answer, id: `${answer.id}-${made++}` };
      },
    };
  };

  test.each([
    ["forgets further ports", ports, "EnsureLoadBalancer", 2, "loadBalancer.ingress.items[0].ports[1]"],
    ["loses targets", targets, "UpdateLoadBalancerNodes", 1, "loadBalancer.registeredNodes"],
    ["gives a load balancer another id", ids, "EnsureLoadBalancer", 2, "loadBalancer.id"],
  ])("fails against a provider that %s at the right call", async (_, mutation, method, nth, field) => {
    const all = await recording();
    await using cloud = await freshCloud();
    const socketPath = join(directory, "mutant.sock");
    const mutant = await startMutantProvider({ cloudUrl: cloud.url, apiKey: API_KEY, socketPath, mutation });
    const { code, output } = await replay([all.path, `--against=unix://${socketPath}`, "-o", "json"]);
    await mutant.close();
    expect(code).toBe(1);
    expect(at(reportOf(output), "differences", 0)).toMatchObject({ call: callNumber(all, method, nth), method, field });
  });

  test("serves as a provider: a controller brings a fresh cluster's Service to the same states, and asks for nothing else", async () => {
    const { path, states } = await recording();
    await using served = new Program({
      source: "cli/src/main.ts",
      args: ["replay", path, `--serve=unix://${harness.socket}`, "-o", "json"],
    });
    await served.said(/serving \d+ calls/);
    await shareWithContainers(harness.socket);
    const controller = harness.startController();
    await controller.said(/Became leader/, SETTLED_MS);
    expect(await live(harness)).toEqual(states);
    await endOfService(harness);
    await controller.stop();
    await served.stop("SIGTERM");
    expect(served.output.slice(served.output.indexOf("{"))).toContain('"unknown": []');
  });

  test("becomes a test in one command, which passes with the provider and fails with a mutant of it", async () => {
    const { path } = await recording();
    const sidecar = `${process.execPath} --conditions=development providers/simulated/src/sidecar/main.ts`;
    const script = join(directory, `life-${process.pid}.sh`);
    const made = await replay([path, "--start", sidecar, "--write-test", script]);
    expect(made).toMatchObject({ code: 0 });
    const cloudwire = join(directory, "cloudwire");
    const cli = `exec ${process.execPath} --conditions=development cli/src/main.ts "$@"`;
    await writeFile(cloudwire, `#!/bin/sh\n${cli}\n`, { mode: 0o755 });
    const run = async (cloudUrl: string): Promise<number | null> => {
      const env = { CLOUDWIRE: cloudwire, SIMCLOUD_URL: cloudUrl, SIMCLOUD_API_KEY: API_KEY };
      await using program = new Program({ command: script, args: [], env });
      return (await program.exit(SETTLED_MS)).code;
    };
    await using cloud = await freshCloud();
    expect(await run(cloud.url)).toBe(0);
    // What the first run has bound is not known to the second: the machines are the same, the load balancer is recreated.
    expect(await run(cloud.url)).toBe(0);
    await cloud.admin.addFault({ kind: "falseAbsence", operation: "instances.*" });
    expect(await run(cloud.url)).toBe(1);
  });
});
