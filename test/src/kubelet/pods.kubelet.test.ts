import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, buildKubelet, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { type KubernetesObject, renderChart } from "@cloudwire/deploy/chart";
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { at, type Json, listOf } from "../support/kube.ts";
import { freePort } from "../support/secure-page.ts";
import { NON_ROOT } from "../system/support/containers.ts";
import { controllerKubeconfig } from "../system/support/rights.ts";
import { API_KEY, UNINITIALIZED, World } from "../system/support/world.ts";
import { imageArchives, LOCAL_REGISTRY, programArchive } from "./support/images.ts";
import { Machine, PAUSE_IMAGE } from "./support/machine.ts";

const NODE = "node-1";
const NODE_PATH = `/api/v1/nodes/${NODE}`;
const PODS = "/api/v1/namespaces/kube-system/pods";
const WAIT_MS = 180_000;

let folder: string;
let cluster: ControlPlane;
let world: World;
let machine: Machine;

beforeAll(async () => {
  await buildControlPlane();
  const kubelet = await buildKubelet();
  folder = await mkdtemp(join(tmpdir(), "kubelet-"));
  const archives = [
    ...(await imageArchives(folder, ["controller", "simulated"])),
    await programArchive(folder, join(kubelet.dir, "pause"), PAUSE_IMAGE),
  ];
  cluster = await startControlPlane({ scheduler: true, controllerManager: true, serviceAccountTokens: true });
  world = await World.start(cluster);
  await world.createMachines([{ name: NODE, zone: "north-a" }]);
  machine = await Machine.start({ controlPlane: cluster, name: NODE, kubelet: join(kubelet.dir, "kubelet") });
  for (const archive of archives) await machine.importImage(archive);
}, 60 * 60_000);
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
}, 120_000);

const state = async (): Promise<string> => {
  const pods = await cluster.kubectl(["-n", "kube-system", "describe", "pods"]);
  return [pods, await machine.logOf("simulated"), await machine.logOf("controller"), await machine.logs()].join("\n");
};

const waitFor = async <T>(what: string, ask: () => Promise<T | undefined>): Promise<T> => {
  onTestFailed(async () => console.error(await state()));
  return eventually(what, WAIT_MS, ask);
};

/** The pods of the product, in each of which all containers are ready. */
const readyPods = async (): Promise<readonly Json[]> => {
  const pods = await world.kube.items(`${PODS}?labelSelector=app.kubernetes.io/instance=cloudwire`);
  return pods.filter((pod) =>
    listOf(at(pod, "status", "conditions")).some(({ type, status }) => type === "Ready" && status === "True"),
  );
};

const gone = async (): Promise<true | undefined> =>
  (await world.kube.items(`${PODS}?labelSelector=app.kubernetes.io/instance=cloudwire`)).length === 0
    ? true
    : undefined;

const taintKeys = async (): Promise<readonly unknown[]> =>
  listOf(at(await world.kube.get(NODE_PATH), "spec", "taints")).map(({ key }) => key);

/** Of a container's program: what the kernel knows of it. */
const statusOf = async (program: string): Promise<Readonly<Record<string, string>>> => {
  const ids = await machine.processes(`/${program}.mjs`);
  expect(ids).toHaveLength(1);
  const lines = (await readFile(`/proc/${ids[0]}/status`, "utf8")).split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/:\s+/)).map(([key = "", value = ""]) => [key, value]));
};

const settings = (): object => ({
  image: { registry: LOCAL_REGISTRY, pullPolicy: "Never" },
  providers: [
    {
      name: "simulated",
      env: [
        { name: "SIMCLOUD_URL", value: world.cloudUrl },
        { name: "SIMCLOUD_API_KEY", value: API_KEY },
      ],
      httpPort: 9102,
    },
  ],
});

const apiServer = (): object => {
  const { hostname, port } = new URL(cluster.server);
  return { host: hostname, port: Number(port) };
};

describe("a static pod, on the machine that waits for it", () => {
  test("initialises the Node of its own machine", async () => {
    const kubeconfig = await machine.putFile("kubeconfig", await readFile(await controllerKubeconfig(cluster), "utf8"));
    const values = { ...settings(), kind: "StaticPod", kubeconfig: { hostPath: kubeconfig } };
    const pods = (await renderChart({ values })).filter(({ kind }) => kind === "Pod");
    const [pod] = pods.filter(({ metadata }) => !("helm.sh/hook" in (metadata.annotations ?? {})));
    expect(pod).toBeDefined();
    await machine.runStaticPod("cloud-controller-manager", Object(pod));
    await machine.startKubelet();

    await waitFor("the taint to be lifted", async () => {
      const node = await world.kube.find(NODE_PATH);
      return node !== undefined && !(await taintKeys()).includes(UNINITIALIZED) ? true : undefined;
    });
    const node = await world.kube.get(NODE_PATH);
    const { items } = await world.cloud.listInstances({ pageSize: 10, consistent: true }, AbortSignal.timeout(10_000));
    expect(items.map(({ id }) => `sim://north-a/${id}`).join()).toBe(at(node, "spec", "providerID"));
    expect(listOf(at(node, "status", "addresses")).map(({ type }) => type)).toContain("InternalIP");
  });

  test("is ready by the kubelet's own probes, and none of its containers was started again", async () => {
    const [pod] = await waitFor("the pod to be ready", async () => {
      const ready = await readyPods();
      return ready.length === 1 ? ready : undefined;
    });
    const statuses = [
      ...listOf(at(pod, "status", "initContainerStatuses")),
      ...listOf(at(pod, "status", "containerStatuses")),
    ];
    expect(statuses.map(({ name, restartCount }) => [name, restartCount])).toEqual([
      ["simulated", 0],
      ["controller", 0],
    ]);
  });

  test.each(["cloudwire-controller-manager", "cloudwire-provider-simulated"])(
    "runs %s as nobody, without capabilities, and with the runtime's filter of system calls",
    async (program) => {
      const { Uid, CapEff, CapBnd, NoNewPrivs, Seccomp } = await statusOf(program);
      expect({ user: Uid?.split("\t")[0], CapEff, CapBnd, NoNewPrivs, Seccomp }).toEqual({
        user: String(NON_ROOT),
        CapEff: "0000000000000000",
        CapBnd: "0000000000000000",
        NoNewPrivs: "1",
        Seccomp: "2",
      });
    },
  );

  test("goes on when its provider is killed, which the kubelet starts again", async () => {
    const [before] = await machine.processes("/cloudwire-provider-simulated.mjs");
    process.kill(Number(before), "SIGKILL");
    await waitFor("another provider", async () => {
      const [now] = await machine.processes("/cloudwire-provider-simulated.mjs");
      return now !== undefined && now !== before ? true : undefined;
    });
    await world.kube.create("/api/v1/namespaces/default/services", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { type: "LoadBalancer", ports: [{ port: await freePort() }], selector: { app: "web" } },
    });
    await waitFor("the Service to have an address", async () => {
      const service = await world.kube.get("/api/v1/namespaces/default/services/web");
      return listOf(at(service, "status", "loadBalancer", "ingress"))[0]?.["ip"];
    });
    await world.kube.delete("/api/v1/namespaces/default/services/web");
    await waitFor("the Service to be gone", async () =>
      (await world.kube.find("/api/v1/namespaces/default/services/web")) === undefined ? true : undefined,
    );
    expect(await world.loadBalancers()).toEqual([]);
  });

  test("ends in time when its manifest is taken away, and gives up the Lease", async () => {
    await machine.endStaticPod("cloud-controller-manager");
    await waitFor("the pod to be gone", gone);
    const lease = await world.kube.get(
      "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager",
    );
    expect(at(lease, "spec", "holderIdentity") ?? "").toBe("");
  });
});

describe("a Deployment", () => {
  const apply = (objects: readonly KubernetesObject[]): Promise<string> =>
    cluster.kubectl(["apply", "--validate=strict", "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    });

  test("is scheduled to a Node that waits for it, comes in by its service account's token, and initialises the Node", async () => {
    await cluster.kubectl(["label", "node", NODE, "node-role.kubernetes.io/control-plane="]);
    await cluster.kubectl(["taint", "node", NODE, `${UNINITIALIZED}=true:NoSchedule`]);
    const objects = await renderChart({ values: { ...settings(), replicas: 1, apiServer: apiServer() } });
    await apply(objects.filter(({ metadata }) => !("helm.sh/hook" in (metadata.annotations ?? {}))));
    await waitFor("the taint to be lifted", async () =>
      (await taintKeys()).includes(UNINITIALIZED) ? undefined : true,
    );
    const [pod] = await waitFor("the pod to be ready", async () => {
      const ready = await readyPods();
      return ready.length === 1 ? ready : undefined;
    });
    expect(at(pod, "spec", "nodeName")).toBe(NODE);
  });

  test("gives the token to the controller, and none to the provider", async () => {
    const tokenMounts = async (program: string): Promise<readonly string[]> => {
      const [id] = await machine.processes(`/${program}.mjs`);
      const mounts = (await readFile(`/proc/${id}/mountinfo`, "utf8"))
        .split("\n")
        .map((line) => line.split(" ")[4] ?? "");
      return mounts.filter((path) => path.includes("serviceaccount"));
    };
    expect(await tokenMounts("cloudwire-controller-manager")).toHaveLength(1);
    expect(await tokenMounts("cloudwire-provider-simulated")).toEqual([]);
  });

  test("leaves no process when it is deleted", async () => {
    await cluster.kubectl(["-n", "kube-system", "delete", "deployment", "cloud-controller-manager"]);
    await waitFor("the pod to be gone", gone);
    expect(await machine.processes("/cloudwire-controller-manager.mjs")).toEqual([]);
    expect(await machine.processes("/cloudwire-provider-simulated.mjs")).toEqual([]);
  });
});
