import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { AdminClient, CloudClient, spawnCloud, type SpawnedCloud } from "@cloudwire/provider-simulated";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { loadedPackages, PROBE } from "./module-probe.ts";
import { OtlpReceiver } from "./otlp-receiver.ts";
import type { ReceivedSpan } from "./otlp-spans.ts";

const KEY = "key-that-must-stay-secret";
const CONTROLLER = "cloudwire-controller-manager";
const PROVIDER = "cloudwire-provider-simulated";
const NODE = "traced-1";
const LOOK_UP = "cloudprovider.v1.CloudProvider/BatchGetInstances";
const ENSURE = "cloudprovider.v1.CloudProvider/EnsureLoadBalancer";
const SETTLED_MS = 30_000;

let directory: string;
let cluster: DevCluster;
let cloud: SpawnedCloud;
let receiver: OtlpReceiver;
let programs: Program[];

beforeEach(async () => {
  programs = [];
  directory = await mkdtemp(join(tmpdir(), "tracing-"));
  cluster = await startDevCluster();
  cloud = await spawnCloud({ flags: { account: `traced=${KEY}` } });
  receiver = await OtlpReceiver.start();
});

afterEach(async () => {
  await Promise.all(programs.map((program) => program[Symbol.asyncDispose]()));
  await receiver[Symbol.asyncDispose]();
  await cloud.stop("SIGKILL");
  await cluster.close();
  await rm(directory, { recursive: true, force: true });
});

function start(options: ConstructorParameters<typeof Program>[0]): Program {
  const program = new Program({ ...options, env: { ...PROBE, ...options.env } });
  programs.push(program);
  return program;
}

async function startSidecar(env: Readonly<Record<string, string>> = {}): Promise<Program> {
  const sidecar = start({
    source: "providers/simulated/src/sidecar/main.ts",
    args: [`--cloud-url=${cloud.url}`],
    env: {
      CLOUD_PROVIDER_ENDPOINT: `unix://${join(directory, "provider.sock")}`,
      CLOUD_PROVIDER_LOG_LEVEL: "debug",
      SIMCLOUD_API_KEY: KEY,
      ...env,
    },
  });
  await sidecar.said(/provider ready/);
  return sidecar;
}

async function startController(
  env: Readonly<Record<string, string>> = {},
  ...args: readonly string[]
): Promise<Program> {
  const controller = launchController(env, ...args);
  await controller.said(/Connected to provider/);
  return controller;
}

function launchController(env: Readonly<Record<string, string>>, ...args: readonly string[]): Program {
  return start({
    source: "controller/src/main.ts",
    args: [
      `--master=${cluster.url}`,
      `--provider=simulated=unix://${join(directory, "provider.sock")}`,
      "--leader-elect=false",
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      ...args,
    ],
    env,
  });
}

async function initializeNode(): Promise<void> {
  await new CloudClient({ url: cloud.url, apiKey: KEY }).createInstances(
    [{ name: NODE, zone: "north-a" }],
    AbortSignal.timeout(10_000),
  );
  cluster.seed({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: NODE },
    spec: {
      taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }],
    },
  });
  await eventually(
    `node ${NODE} to be initialized`,
    SETTLED_MS,
    () => {
      const node = cluster.read("v1", "Node", "", NODE);
      return listOf(at(node, "spec", "taints")).length === 0 ? true : undefined;
    },
    () => programs.map(({ output }) => output).join("\n"),
  );
}

function certificatePath(name: string): string {
  return fileURLToPath(new URL(`../../../provider-sdk/typescript/test/certificates/${name}`, import.meta.url));
}

async function endAll(): Promise<void> {
  const ends = await Promise.all(programs.map((program) => program.stop()));
  expect(ends).toEqual(programs.map(() => ({ code: 0, signal: null })));
}

/** The first span that `isWanted`; fails without one, showing what there is. */
function theSpan(what: string, isWanted: (span: ReceivedSpan) => boolean): ReceivedSpan {
  const found = receiver.spans.find(isWanted);
  if (found === undefined) throw new Error(`no span is ${what}: ${JSON.stringify(receiver.spans, undefined, 1)}`);
  return found;
}

/** Those whose parent it is, in the order of their names. */
function childrenOf({ spanId, traceId }: ReceivedSpan): readonly ReceivedSpan[] {
  return receiver.spans
    .filter((span) => span.parentSpanId === spanId && span.traceId === traceId)
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

async function writeTracingFile(): Promise<string> {
  const path = join(directory, "tracing.yaml");
  const kind = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";
  await writeFile(path, `${kind}endpoint: ${new URL(receiver.url).host}\nsamplingRatePerMillion: 1000000\n`);
  return path;
}

async function startTraced(): Promise<readonly [Program, Program]> {
  const sidecar = await startSidecar({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  return [sidecar, await startController({}, `--tracing-config-file=${await writeTracingFile()}`)];
}

test("traces lead from a reconcile over its calls to what the provider does for it", async () => {
  const [sidecar] = await startTraced();
  await initializeNode();
  await endAll();

  // The node is looked up again later, by others; only once it is initialized.
  const patch = theSpan("a patch of the node", ({ name }) => name === "PATCH nodes");
  const reconcile = theSpan("its reconcile", ({ spanId }) => spanId === patch.parentSpanId);
  const call = theSpan(
    "its look-up",
    ({ name, parentSpanId }) => name === LOOK_UP && parentSpanId === reconcile.spanId,
  );
  const [served] = childrenOf(call);
  expect(reconcile).toEqual({
    service: CONTROLLER,
    name: "reconcile cloud-node-controller",
    kind: "internal",
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    parentSpanId: "",
    attributes: {
      "cloudwire.controller": "cloud-node-controller",
      "cloudwire.key": NODE,
      "cloudwire.reconcile_id": expect.any(String),
      "cloudwire.priority": "high",
      "cloudwire.failures": expect.stringMatching(/^\d+$/),
      "cloudwire.result": "requeue_after",
    },
    links: [],
    status: "unset",
    statusMessage: "",
  });
  expect(childrenOf(reconcile).map(({ service, name, kind }) => [service, name, kind])).toEqual([
    [CONTROLLER, LOOK_UP, "client"],
    [CONTROLLER, "PATCH nodes", "client"],
    [CONTROLLER, "PATCH nodes", "client"],
  ]);
  expect(call).toMatchObject({
    attributes: {
      "rpc.system.name": "grpc",
      "rpc.method": LOOK_UP,
      "rpc.response.status_code": "OK",
      "server.address": join(directory, "provider.sock"),
      "cloudwire.provider": "simulated",
      "cloudwire.cloud_calls": "1",
    },
    status: "unset",
  });
  expect(childrenOf(call)).toHaveLength(1);
  expect(served).toMatchObject({
    service: PROVIDER,
    name: LOOK_UP,
    kind: "server",
    attributes: {
      "rpc.system.name": "grpc",
      "rpc.response.status_code": "OK",
      "cloudwire.request_id": call.attributes["cloudwire.request_id"],
    },
    status: "unset",
  });
  // Handshakes, looks at the provider's health, leases, lists and watches are for no reconcile.
  expect(receiver.spans.filter((span) => span.parentSpanId === "" && !span.name.startsWith("reconcile "))).toEqual([]);
  expect(sidecar.output).toContain(`"traceID":"${reconcile.traceId}"`);
});

test("traces show which call failed, and hold no secret", async () => {
  const admin = new AdminClient({ url: cloud.url });
  await admin.addFault({ kind: "internalError", operation: "loadBalancers.*" });
  const [, controller] = await startTraced();
  cluster.seed({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "failing", namespace: "default" },
    spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }] },
  });
  await controller.said(/Reconcile failed.*service-lb-controller key=default\/failing/, SETTLED_MS);
  await endAll();

  const call = theSpan("the change", ({ name, kind }) => name === ENSURE && kind === "client");
  const reconcile = theSpan("its reconcile", ({ spanId }) => spanId === call.parentSpanId);
  const served = theSpan("the provider's", ({ parentSpanId }) => parentSpanId === call.spanId);
  const why = expect.stringContaining("the cloud failed to carry out the request");
  expect(reconcile).toMatchObject({
    name: "reconcile service-lb-controller",
    attributes: { "cloudwire.result": "error", "error.type": "LOAD_BALANCER_SYNC" },
    status: "error",
    statusMessage: why,
  });
  expect(call).toMatchObject({
    attributes: {
      "rpc.response.status_code": "UNAVAILABLE",
      "error.type": "UNAVAILABLE",
      "cloudwire.reason": "CLOUD_UNAVAILABLE",
    },
    status: "error",
    statusMessage: why,
  });
  expect(served).toMatchObject({
    service: PROVIDER,
    kind: "server",
    attributes: { "rpc.response.status_code": "UNAVAILABLE", "error.type": "UNAVAILABLE" },
    status: "error",
    statusMessage: why,
  });
  expect(receiver.bytes.includes(KEY)).toBe(false);
});

test("the controller and the provider load nothing for traces unless they are asked for", async () => {
  const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: "true" };
  const sidecar = await startSidecar(disabled);
  const controller = await startController(disabled);
  await initializeNode();
  await endAll();
  // The API alone: prom-client's in the controller, the SDK's optional one in the provider.
  expect(loadedPackages(sidecar.output)).toEqual(["@opentelemetry/api"]);
  expect(loadedPackages(controller.output)).toEqual(["@opentelemetry/api"]);
  expect(receiver.bytes).toHaveLength(0);
  expect(sidecar.output).not.toContain("traceID");
});

test("work goes on, and ends in order, while no collector answers", async () => {
  const gone = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: "1000" };
  await receiver[Symbol.asyncDispose]();
  await startSidecar(gone);
  const controller = await startController(gone);
  await initializeNode();
  await endAll();
  expect(controller.output).toMatch(/INFO +Exporting traces endpoint=http:\S+ isParentBased=true ratio=1$/m);
  expect(controller.output.match(/Could not export traces/g)).toHaveLength(1);
});

test.each([
  ["over TLS, to a collector whose certificate it trusts", "authority.pem", /Exporting traces endpoint=https:/, true],
  ["to no other", "authority-2.pem", /Could not export traces/, false],
])("traces go %s", async (_what, authority, said, isExported) => {
  const [certificate, key] = await Promise.all([
    readFile(certificatePath("server.pem")),
    readFile(certificatePath("server.key")),
  ]);
  await receiver[Symbol.asyncDispose]();
  receiver = await OtlpReceiver.start({ certificate, key });
  await startSidecar();
  const controller = await startController({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_CERTIFICATE: certificatePath(authority),
    OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
  });
  await initializeNode();
  await endAll();
  expect(controller.output).toMatch(said);
  expect(receiver.spans.some(({ name }) => name === LOOK_UP)).toBe(isExported);
});

test("the controller says everything that is wrong with its tracing configuration, and ends", async () => {
  const path = join(directory, "tracing.yaml");
  await writeFile(
    path,
    "kind: TracingConfiguration\nendpoint: unix:///run/x.sock\nsamplingRatePerMillion: -1\nrate: 1\n",
  );
  const controller = launchController({}, `--tracing-config-file=${path}`);
  expect(await controller.exit()).toEqual({ code: 64, signal: null });
  const where = `cloudwire-controller-manager: --tracing-config-file: ${path}: `;
  const reported = controller.output.split("\n").filter((line) => line.startsWith(where));
  expect(reported.map((line) => line.slice(where.length))).toEqual([
    "rate: is not a field of TracingConfiguration",
    'apiVersion: is "undefined", not one of apiserver.config.k8s.io/v1, apiserver.config.k8s.io/v1beta1, apiserver.config.k8s.io/v1alpha1',
    'endpoint: "unix:///run/x.sock" begins with unix://; use host:port, http://host:port or https://host:port',
    "samplingRatePerMillion: is -1, not a whole number from 0 to 1000000",
  ]);
});
