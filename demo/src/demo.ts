import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { CloudClient } from "@cloudwire/provider-simulated";
import { ROOT } from "./processes/checkout.ts";
import type { Paint } from "./paint.ts";
import { freePort } from "./processes/free-port.ts";
import { guide } from "./guide.ts";
import { Kubernetes } from "./cluster/kubernetes.ts";
import { Machines } from "./cluster/machines.ts";
import {
  CLOUD_ACCOUNT,
  type CloudPools,
  clusterSpec,
  cloudSpec,
  controllerSpec,
  kubeconfig,
  kubeconfigFile,
  providerSpec,
} from "./processes/parts.ts";
import type { Screen } from "./screen.ts";
import { buildStatusPage } from "./processes/status-page.ts";
import { type ProcessSpec, Supervised } from "./processes/supervised.ts";
import { ClusterState } from "./cluster/cluster-state.ts";

export interface DemoDeps {
  readonly directory: string;
  readonly pools: CloudPools;
  readonly nodes: number;
  readonly screen: Screen;
  readonly paint: Paint;
  readonly now: () => Date;
  /** Stops the demo. */
  readonly end: AbortController;
}

/** The demo once it is ready. */
export interface Demo {
  readonly clusterState: ClusterState;
  readonly kubernetes: Kubernetes;
  readonly serviceUrl: string;
  readonly statusPageUrl: string;
  readonly provider: Supervised;
  readonly guide: () => string;
}

/** All that was started; endDemo() stops it in reverse order. */
export interface Running {
  readonly processes: Supervised[];
  readonly tasks: Promise<void>[];
}

const INITIALIZED_TIMEOUT_MS = 60_000;
const ADDRESS_TIMEOUT_MS = 30_000;
/** Above 1023, because the load balancer listens on this port without root. */
const SERVICE_PORT = 8_080;

/** Starts all processes and waits until the nodes are initialized and the Service has an address. */
export async function startDemo(deps: DemoDeps, running: Running): Promise<Demo> {
  const { screen, end, now, nodes, paint } = deps;
  const directory = { path: deps.directory };
  const start = (spec: ProcessSpec, text: string): Promise<Started> => startProcess(spec, text, deps, running);

  const [cluster, cloud] = await Promise.all([
    start(clusterSpec(directory), "a Kubernetes API in memory"),
    start(cloudSpec(directory, deps.pools), "a simulated cloud"),
    buildStatusPage(end.signal),
  ]);
  await writeFile(kubeconfigFile(directory), kubeconfig(cluster.url));
  const kubernetes = new Kubernetes({ url: cluster.url, signal: end.signal });
  const cloudClient = new CloudClient({ url: cloud.url, apiKey: CLOUD_ACCOUNT.key });
  const machines = new Machines({
    cloud: cloudClient,
    kubernetes,
    now,
    onFailure: (name, error) =>
      screen.show({ subject: name, text: `its kubelet failed: ${String(error)}`, tone: "bad" }),
    signal: end.signal,
  });
  const clusterState = new ClusterState({
    kubernetes,
    screen,
    onNodePorts: (ports) => machines.setNodePorts(ports),
    signal: end.signal,
  });
  running.tasks.push(clusterState.run(), machines.run());

  const zones = (await cloudClient.account(end.signal)).regions.flatMap((region) => region.zones);
  const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
  const zoneOf = (index: number): string => zones[index % zones.length] ?? "";
  await cloudClient.createInstances(
    names.map((name, index) => ({ name, zone: zoneOf(index) })),
    end.signal,
  );

  const [provider, controller] = await Promise.all([
    start(providerSpec(directory, cloud.url), "the provider sidecar of that cloud"),
    start(controllerSpec(directory, await freePort()), "the controller"),
  ]);
  const [, statusPageUrl = ""] = controller.readyValues;
  await clusterState.until(`initialization of all ${nodes} nodes`, INITIALIZED_TIMEOUT_MS, ({ nodes: known }) =>
    names.every((name) => known.get(name)?.isTainted === false),
  );
  const serviceUrl = await createService(kubernetes, clusterState, "web", SERVICE_PORT);
  const values = {
    kubectl: kubectl(),
    kubeconfig: kubeconfigFile(directory),
    serviceUrl,
    cloudUrl: cloud.url,
    cloudKey: CLOUD_ACCOUNT.key,
    zone: zoneOf(nodes),
    nextNode: `node-${nodes + 1}`,
    statusPageUrl,
    healthUrl: controller.url,
    logs: join(deps.directory, "*.log"),
  };
  const text = (): string => guide({ ...values, providerPid: provider.process.pid }, paint);
  return { clusterState, kubernetes, serviceUrl, statusPageUrl, provider: provider.process, guide: text };
}

/** Stops what was started, last first. */
export async function endDemo({ processes, tasks }: Running): Promise<void> {
  for (const process of processes.toReversed()) await process.stop();
  await Promise.allSettled(tasks);
}

interface Started {
  readonly process: Supervised;
  readonly url: string;
  /** The groups of its ready line. */
  readonly readyValues: readonly string[];
}

async function startProcess(
  spec: ProcessSpec,
  text: string,
  { screen, end }: DemoDeps,
  running: Running,
): Promise<Started> {
  const show = (message: string, tone: "plain" | "bad" | "good"): void =>
    screen.show({ subject: spec.name, text: message, tone });
  const supervised: Supervised = new Supervised({
    spec,
    onExit: (description) => {
      const isForgetful = spec.name === "cluster";
      show(`${description}${isForgetful ? ": the demo stops, because its state is lost" : "; restarting"}`, "bad");
      if (isForgetful) end.abort(new Error("the cluster, whose state is in memory, has ended"));
      return !isForgetful;
    },
    onRestart: (pid) => show(`restarted, pid ${pid}`, "good"),
  });
  running.processes.push(supervised);
  const readyValues = await supervised.start();
  const [url = ""] = readyValues;
  show(`${text}, pid ${supervised.pid}${url.startsWith("http") ? `, ${url}` : ""}`, "plain");
  return { process: supervised, url, readyValues };
}

/** Creates a Service of type LoadBalancer and waits for its address. */
export async function createService(
  kubernetes: Kubernetes,
  clusterState: ClusterState,
  name: string,
  port: number,
): Promise<string> {
  await kubernetes.create("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ name: "http", port, targetPort: 80 }] },
  });
  const addresses = (): readonly string[] => clusterState.services.get(`default/${name}`)?.addresses ?? [];
  await clusterState.until(`an address for Service ${name}`, ADDRESS_TIMEOUT_MS, () => addresses().length > 0);
  return `http://${addresses()[0] ?? ""}:${port}`;
}

/** The user's kubectl, or else the one from the build of test/control-plane. */
function kubectl(): string {
  const hasOwn = (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((directory) => existsSync(join(directory, "kubectl")));
  if (hasOwn) return "kubectl";
  const builds = join("test", "control-plane", "bin");
  const minors = existsSync(join(ROOT, builds)) ? readdirSync(join(ROOT, builds)).sort() : [];
  const newest = minors.map((minor) => join(builds, minor, "kubectl")).findLast((path) => existsSync(join(ROOT, path)));
  return newest === undefined ? "kubectl" : `./${newest}`;
}
