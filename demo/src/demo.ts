import { existsSync } from "node:fs";
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
import { World } from "./cluster/cluster-state.ts";

export interface DemoDeps {
  readonly folder: string;
  readonly pools: CloudPools;
  readonly nodes: number;
  readonly screen: Screen;
  readonly paint: Paint;
  readonly now: () => Date;
  /** Ends everything. */
  readonly end: AbortController;
}

/** The demo once it is ready. */
export interface Demo {
  readonly world: World;
  readonly kubernetes: Kubernetes;
  readonly serviceUrl: string;
  readonly statusPageUrl: string;
  readonly provider: Supervised;
  readonly guide: () => string;
}

/** Everything that was started, to be ended in the reverse order. */
export interface Running {
  readonly processes: Supervised[];
  readonly tasks: Promise<void>[];
}

const INITIALISED_TIMEOUT_MS = 60_000;
const ADDRESS_TIMEOUT_MS = 30_000;
/** Above 1024: the load balancer listens on the very port, whoever runs the demo. */
const SERVICE_PORT = 8_080;

/** Brings everything up and waits until the nodes are initialised and the Service answers. */
export async function startDemo(deps: DemoDeps, running: Running): Promise<Demo> {
  const { screen, end, now, nodes, paint } = deps;
  const folder = { path: deps.folder };
  const start = (spec: ProcessSpec, text: string): Promise<Started> => startProcess(spec, text, deps, running);

  const [cluster, cloud] = await Promise.all([
    start(clusterSpec(folder), "a Kubernetes API in memory"),
    start(cloudSpec(folder, deps.pools), "a simulated cloud"),
    buildStatusPage(end.signal),
  ]);
  await writeFile(kubeconfigFile(folder), kubeconfig(cluster.url));
  const kubernetes = new Kubernetes({ url: cluster.url, signal: end.signal });
  const cloudClient = new CloudClient({ url: cloud.url, apiKey: CLOUD_ACCOUNT.key });
  const machines = new Machines({
    cloud: cloudClient,
    kubernetes,
    now,
    onFailure: (name, error) =>
      screen.tell({ subject: name, text: `its kubelet failed: ${String(error)}`, tone: "bad" }),
    signal: end.signal,
  });
  const world = new World({
    kubernetes,
    screen,
    onNodePorts: (ports) => machines.setNodePorts(ports),
    signal: end.signal,
  });
  running.tasks.push(world.run(), machines.run());

  const zones = (await cloudClient.account(end.signal)).regions.flatMap((region) => region.zones);
  const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
  const zoneOf = (index: number): string => zones[index % zones.length] ?? "";
  await cloudClient.createInstances(
    names.map((name, index) => ({ name, zone: zoneOf(index) })),
    end.signal,
  );

  const [provider, controller] = await Promise.all([
    start(providerSpec(folder, cloud.url), "the provider sidecar of that cloud"),
    start(controllerSpec(folder, await freePort()), "the controller"),
  ]);
  const [, statusPageUrl = ""] = controller.said;
  await world.until(`that all ${nodes} nodes are initialised`, INITIALISED_TIMEOUT_MS, ({ nodes: known }) =>
    names.every((name) => known.get(name)?.isTainted === false),
  );
  const serviceUrl = await createService(kubernetes, world, "web", SERVICE_PORT);
  const facts = {
    kubectl: kubectl(),
    kubeconfig: kubeconfigFile(folder),
    serviceUrl,
    cloudUrl: cloud.url,
    cloudKey: CLOUD_ACCOUNT.key,
    zone: zoneOf(nodes),
    nextNode: `node-${nodes + 1}`,
    statusPageUrl,
    healthUrl: controller.url,
    logs: join(deps.folder, "*.log"),
  };
  const text = (): string => guide({ ...facts, providerPid: provider.process.pid }, paint);
  return { world, kubernetes, serviceUrl, statusPageUrl, provider: provider.process, guide: text };
}

/** Ends what was started, last first. */
export async function endDemo({ processes, tasks }: Running): Promise<void> {
  for (const process of processes.toReversed()) await process.stop();
  await Promise.allSettled(tasks);
}

interface Started {
  readonly process: Supervised;
  readonly url: string;
  /** All that its ready line names. */
  readonly said: readonly string[];
}

async function startProcess(
  spec: ProcessSpec,
  text: string,
  { screen, end }: DemoDeps,
  running: Running,
): Promise<Started> {
  const tell = (what: string, tone: "plain" | "bad" | "good"): void =>
    screen.tell({ subject: spec.name, text: what, tone });
  const supervised: Supervised = new Supervised({
    spec,
    onLost: (how) => {
      const isForgetful = spec.name === "cluster";
      tell(`${how}${isForgetful ? ": the demo ends with it" : ", is started again"}`, "bad");
      if (isForgetful) end.abort(new Error("the cluster, whose state is in memory, has ended"));
      return !isForgetful;
    },
    onBack: (pid) => tell(`is back, pid ${pid}`, "good"),
  });
  running.processes.push(supervised);
  const said = await supervised.start();
  const [url = ""] = said;
  tell(`${text}, pid ${supervised.pid}${url.startsWith("http") ? `, ${url}` : ""}`, "plain");
  return { process: supervised, url, said };
}

/** Makes a Service of type LoadBalancer and waits for its address. */
export async function createService(kubernetes: Kubernetes, world: World, name: string, port: number): Promise<string> {
  await kubernetes.create("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ name: "http", port, targetPort: 80 }] },
  });
  const addresses = (): readonly string[] => world.services.get(`default/${name}`)?.addresses ?? [];
  await world.until(`that Service ${name} has an address`, ADDRESS_TIMEOUT_MS, () => addresses().length > 0);
  return `http://${addresses()[0] ?? ""}:${port}`;
}

/** The user's own kubectl, else the one that the control plane's build left here. */
function kubectl(): string {
  const hasOwn = (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, "kubectl")));
  const built = join("test", "control-plane", "bin", "1.36", "kubectl");
  return !hasOwn && existsSync(join(ROOT, built)) ? `./${built}` : "kubectl";
}
