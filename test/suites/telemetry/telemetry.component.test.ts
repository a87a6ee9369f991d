import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { CloudClient, loopbackPools, spawnCloud, type SpawnedCloud } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { fetchPage, freePort } from "../../support/secure-page.ts";
import { familiesOf } from "./families.ts";

const CLOUD_KEY = "cloud-key-that-must-stay-secret";
const CLUSTER_TOKEN = "cluster-token-that-must-stay-secret";
const CALLER_TOKEN = "caller-token-that-must-stay-secret";
const SETTLED_MS = 60_000;

const keyFile = fixture("client.key");

let directory: string;
let cluster: DevCluster;
let cloud: SpawnedCloud;
let sidecar: Program;
let controller: Program;
let port: number;

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../../controller/test/fixtures/provider-tls/${name}`, import.meta.url));
}

/** Everything on, everything said, and something to do for it. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "telemetry-"));
  cluster = await startDevCluster({
    anonymous: false,
    users: [
      { name: "controller", groups: ["system:masters"], token: CLUSTER_TOKEN },
      { name: "caller", groups: [], token: CALLER_TOKEN },
    ],
  });
  const { instancePool, loadBalancerPool } = loopbackPools(process.pid);
  cloud = await spawnCloud({
    flags: { account: `observed=${CLOUD_KEY}`, "instance-pool": instancePool, "load-balancer-pool": loadBalancerPool },
  });
  const socket = join(directory, "provider.sock");
  sidecar = new Program({
    source: "providers/simulated/src/sidecar/main.ts",
    args: [`--cloud-url=${cloud.url}`],
    env: {
      CLOUD_PROVIDER_ENDPOINT: `unix://${socket}`,
      CLOUD_PROVIDER_LOG_LEVEL: "debug",
      SIMCLOUD_API_KEY: CLOUD_KEY,
    },
  });
  await sidecar.said(/provider ready/);
  port = await freePort();
  const kubeconfig = join(directory, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig(CLUSTER_TOKEN));
  controller = new Program({
    source: "controller/src/main.ts",
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--provider=simulated=unix://${socket}`,
      "--controllers=*,node-ipam-controller,persistent-volume-label-controller,kubelet-serving-csr-approver",
      "--allocate-node-cidrs",
      "--cluster-cidr=10.244.0.0/16",
      "--health-bind-address=127.0.0.1:0",
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--tls-cert-file=${fixture("client.pem")}`,
      `--tls-private-key-file=${keyFile}`,
      "--webhooks=persistent-volume-label",
      "--webhook-bind-address=127.0.0.1",
      `--webhook-secure-port=${await freePort()}`,
      "--logging-format=json",
      "-v=10",
    ],
  });
  await controller.said(/Became leader/);
  await new CloudClient({ url: cloud.url, apiKey: CLOUD_KEY }).createInstances(
    [{ name: "observed-1", zone: "north-a" }],
    AbortSignal.timeout(10_000),
  );
  cluster.seed({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "observed-1" },
    spec: { taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }] },
  });
  cluster.seed({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { type: "LoadBalancer", selector: { app: "web" }, ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }] },
  });
  await eventually("the node and the service to be served", SETTLED_MS, isServed, () => controller.output);
  await fetchPage(port, "/metrics", { token: CALLER_TOKEN });
}, 120_000);

afterAll(async () => {
  await controller[Symbol.asyncDispose]();
  await sidecar[Symbol.asyncDispose]();
  await cloud.stop("SIGKILL");
  await cluster.close();
  await rm(directory, { recursive: true, force: true });
});

function isServed(): true | undefined {
  const taints = listOf(at(cluster.read("v1", "Node", "", "observed-1"), "spec", "taints"));
  const service = cluster.read("v1", "Service", "default", "web");
  return taints.length === 0 && listOf(at(service, "status", "loadBalancer", "ingress")).length > 0 ? true : undefined;
}

async function familiesAt(path: string): Promise<readonly string[]> {
  const [, url] = await controller.said(/"health":"(http:[^"]+)"/);
  const text = await (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(10_000) })).text();
  return familiesOf(text).map(({ name }) => name);
}

test("the metrics of a controller with everything on are all on their page", async () => {
  const page = await readFile(new URL("../../../docs/reference/metrics.md", import.meta.url), "utf8");
  const documented = new Set(
    [...page.matchAll(/^\| `([a-z]\w+)` \| (?:counter|gauge|histogram) \|/gm)].map(([, name]) => name),
  );
  const families = [...(await familiesAt("/metrics")), ...(await familiesAt("/metrics/slis"))];
  expect(families.length).toBeGreaterThan(60);
  expect(families.filter((name) => !/^(process|nodejs)_/.test(name) && !documented.has(name))).toEqual([]);
});

test("the log at its most talkative holds no secret", async () => {
  const output = controller.output + sidecar.output;
  expect(output).toContain("Messages of provider call");
  const keyLines = (await readFile(keyFile, "utf8")).split("\n").filter((line) => line.length > 40);
  const secrets = [CLOUD_KEY, CLUSTER_TOKEN, CALLER_TOKEN, "PRIVATE KEY", ...keyLines];
  expect(secrets.filter((secret) => output.includes(secret))).toEqual([]);
});

test("every line of the log is one object with level, time and message, in that order, and no key twice", () => {
  // It still runs: what follows the last end of a line is half a line.
  const lines = controller.output.split("\n").slice(0, -1);
  expect(
    lines.filter((line) => !/^\{"level":"(?:error|warn|info|debug)","ts":"[^"]+",.*"msg":"[^"]+"\}$/.test(line)),
  ).toEqual([]);
  expect(lines.filter((line) => JSON.stringify(JSON.parse(line)) !== line)).toEqual([]);
});
