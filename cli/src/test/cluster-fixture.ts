import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { PATHS } from "@cloudwire/operator-api";
import { ApiFront } from "./api-front.ts";
import { CERTIFICATE } from "./certificate.ts";
import { FakeController } from "./fake-controller.ts";
import { type Ran, type RunOptions, runCli } from "./run-cli.ts";
import { heldRows, overview } from "./samples.ts";

export const ADMIN = { name: "admin", token: "admin-token", groups: ["system:masters"] };
export const UNPRIVILEGED = { name: "unprivileged", token: "unprivileged-token", groups: [], rules: [] };

export interface FixturePod {
  readonly name: string;
  readonly spec?: object;
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespace?: string;
}

/** A cluster whose API server forwards ports, a controller, and a kubeconfig. */
export class ClusterFixture implements AsyncDisposable {
  readonly cluster: DevCluster;
  readonly api: ApiFront;
  readonly controller: FakeController;
  readonly directory: string;

  private constructor(cluster: DevCluster, api: ApiFront, controller: FakeController, directory: string) {
    this.cluster = cluster;
    this.api = api;
    this.controller = controller;
    this.directory = directory;
  }

  static async start(): Promise<ClusterFixture> {
    const cluster = await startDevCluster({ users: [ADMIN, UNPRIVILEGED], anonymous: false });
    const controller = await FakeController.start();
    controller.pages.set(PATHS.overview, { body: overview });
    controller.pages.set(PATHS.objects, { body: heldRows });
    const directory = await mkdtemp(join(tmpdir(), "cli-"));
    const fixture = new ClusterFixture(cluster, await ApiFront.start(cluster.url), controller, directory);
    await fixture.writeKubeconfig({ token: ADMIN.token });
    return fixture;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api[Symbol.asyncDispose]();
    await this.controller[Symbol.asyncDispose]();
    await this.cluster.close();
    await rm(this.directory, { recursive: true });
  }

  /** Two contexts: the first, which is current, leads nowhere. */
  async writeKubeconfig(user: object): Promise<void> {
    const authority = Buffer.from(CERTIFICATE).toString("base64");
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "dead", cluster: { server: "https://127.0.0.1:1" } },
        { name: "live", cluster: { server: this.api.url, "certificate-authority-data": authority } },
      ],
      users: [{ name: "me", user }],
      contexts: ["dead", "live"].map((name) => ({ name, context: { cluster: name, user: "me" } })),
      "current-context": "dead",
    };
    await writeFile(join(this.directory, "kubeconfig"), JSON.stringify(config));
  }

  /** A command line, in the context that leads somewhere. */
  run(line: string, options?: RunOptions): Promise<Ran> {
    return runCli(
      [...line.split(" "), "--kubeconfig", join(this.directory, "kubeconfig"), "--context", "live"],
      options,
    );
  }

  runPod({ name, spec = {}, labels = {}, namespace = "kube-system" }: FixturePod): void {
    this.cluster.seed({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels: { ...labels } },
      spec: { containers: [{ name: "c", image: "i" }], nodeName: "node-1", ...spec },
      status: { phase: "Running" },
    });
  }

  lead(holderIdentity: string, { name = "cloud-controller-manager", namespace = "kube-system" } = {}): void {
    this.cluster.seed({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace },
      spec: { holderIdentity },
    });
  }

  /** A pod's port leads to the controller. */
  forward(pod: string, port = 10258): void {
    this.api.forwardings.push({ pod, port, to: this.controller.port });
  }
}
