import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildControlPlane, buildKubelet, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import { API_KEY, Harness } from "../../system/support/harness.ts";
import { imageArchives, LOCAL_REGISTRY, programArchive } from "./images.ts";
import { Machine, PAUSE_IMAGE } from "./machine.ts";

const NODE = "node-1";
export const NODE_PATH = `/api/v1/nodes/${NODE}`;
const PODS = "/api/v1/namespaces/kube-system/pods?labelSelector=app.kubernetes.io/name=cloud-controller-manager";
const WAIT_MS = 180_000;

interface StageParts {
  readonly directory: string;
  readonly cluster: ControlPlane;
  readonly harness: Harness;
  readonly machine: Machine;
}

/** A control plane, a cloud, and one machine on which the product's images are; its kubelet is started by a test. */
export class Stage implements AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly harness: Harness;
  readonly machine: Machine;
  /** For files of a test. */
  readonly directory: string;
  readonly node = NODE;

  private constructor({ directory, cluster, harness, machine }: StageParts) {
    this.directory = directory;
    this.cluster = cluster;
    this.harness = harness;
    this.machine = machine;
  }

  static async start(): Promise<Stage> {
    await buildControlPlane();
    const kubelet = await buildKubelet();
    const directory = await mkdtemp(join(tmpdir(), "kubelet-"));
    const archives = [
      ...(await imageArchives(directory, ["controller", "simulated"])),
      await programArchive(directory, join(kubelet.dir, "pause"), PAUSE_IMAGE),
    ];
    const cluster = await startControlPlane({ scheduler: true, controllerManager: true, serviceAccountTokens: true });
    const harness = await Harness.start(cluster);
    // Where its kubelet listens: the API server goes there for forwarded ports.
    await harness.createMachines([{ name: NODE, zone: "north-a", internalAddresses: ["127.0.0.1"] }]);
    const machine = await Machine.start({ controlPlane: cluster, name: NODE, kubelet: join(kubelet.dir, "kubelet") });
    for (const archive of archives) await machine.importImage(archive);
    return new Stage({ directory, cluster, harness, machine });
  }

  /** Starts the kubelet; the Node is one of the control plane. */
  async startNode(): Promise<void> {
    await this.machine.startKubelet();
    await this.waitFor("the Node", async () =>
      (await this.harness.kube.find(NODE_PATH)) === undefined ? undefined : true,
    );
    await this.cluster.kubectl(["label", "node", NODE, "node-role.kubernetes.io/control-plane="]);
  }

  /** Values of the chart without which nothing runs here. */
  get values(): object {
    return {
      image: { registry: LOCAL_REGISTRY, pullPolicy: "Never" },
      providers: [
        {
          name: "simulated",
          env: [
            { name: "SIMCLOUD_URL", value: this.harness.cloudUrl },
            { name: "SIMCLOUD_API_KEY", value: API_KEY },
          ],
          httpPort: 9102,
        },
      ],
    };
  }

  /** Those of what the cluster runs, as there is one machine, and no kube-proxy. */
  get valuesInCluster(): object {
    const { hostname, port } = new URL(this.cluster.server);
    return { ...this.values, replicas: 1, apiServer: { host: hostname, port: Number(port) } };
  }

  /** Says how everything stands where that was without success. */
  async waitFor<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    return eventually(what, WAIT_MS, ask, () => this.#state());
  }

  pods(): Promise<readonly Json[]> {
    return this.harness.kube.items(PODS);
  }

  /** Waits until the product has one pod, in which all containers are ready and whose name is none of these. */
  async readyPod(...not: readonly string[]): Promise<Json> {
    return this.waitFor("the pod to be ready", async () => {
      const [pod, ...others] = await this.pods();
      const isReady = listOf(at(pod, "status", "conditions")).some(
        ({ type, status }) => type === "Ready" && status === "True",
      );
      const isWanted = isReady && others.length === 0 && !not.includes(String(at(pod, "metadata", "name")));
      return isWanted ? pod : undefined;
    });
  }

  async noPod(): Promise<void> {
    await this.waitFor("the pod to be gone", async () => ((await this.pods()).length === 0 ? true : undefined));
  }

  async taintKeys(): Promise<readonly unknown[]> {
    return listOf(at(await this.harness.kube.get(NODE_PATH), "spec", "taints")).map(({ key }) => key);
  }

  /** The id of the one process that runs the program in a container. */
  async idOf(program: string): Promise<number> {
    return this.waitFor(`one ${program}`, async () => {
      const [id, ...others] = await this.machine.processes(`/${program}.mjs`);
      return others.length === 0 ? id : undefined;
    });
  }

  /** Kills it, for the kubelet to start it again, and does not wait for that. */
  async killController(): Promise<void> {
    process.kill(await this.idOf("cloudwire-controller-manager"), "SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.machine[Symbol.asyncDispose]();
    await this.harness[Symbol.asyncDispose]();
    await this.cluster.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  async #state(): Promise<string> {
    const pods = await this.cluster.kubectl(["-n", "kube-system", "describe", "pods"]);
    const logs = [await this.machine.logOf("simulated"), await this.machine.logOf("controller")];
    return [pods, ...logs, await this.machine.logs()].join("\n");
  }
}
