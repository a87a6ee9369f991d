import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControlPlane } from "@cloudwire/control-plane";
import { Program } from "../../../support/program.ts";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { freePort } from "../../../support/secure-page.ts";
import { LOOPBACK } from "./explained.ts";
import { type NodeParts, Harness } from "./harness.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const CALL_MS = 10_000;
const CLUSTER_ID = "cloudwire.dev/cluster-id";

/** Nodes looked at as often as the flags allow, so that nothing takes longer than it must. */
const QUICK = ["--leader-elect=false", "--node-monitor-period=1s", "--node-deletion-confirmation-period=1s"];

const SOURCE = "cli/src/main.ts";

interface Parts {
  readonly harness: Harness;
  readonly controller: Program;
  readonly sidecar: Program;
  readonly port: number;
  readonly directory: string;
}

/** A cluster to which one thing after the other happens that an operator would have to look into. */
export class TroubledCluster implements AsyncDisposable {
  readonly harness: Harness;
  readonly controller: Program;
  readonly sidecar: Program;
  readonly #port: number;
  /** With the administrator's certificate. */
  readonly #directory: string;

  private constructor({ harness, controller, sidecar, port, directory }: Parts) {
    this.harness = harness;
    this.sidecar = sidecar;
    this.controller = controller;
    this.#port = port;
    this.#directory = directory;
  }

  /** @param args of the controller */
  static async start(
    controlPlane: ControlPlane,
    { apiKey, args = [] }: { readonly apiKey?: string; readonly args?: readonly string[] } = {},
  ): Promise<TroubledCluster> {
    const harness = await Harness.start(controlPlane);
    const sidecar = await harness.startSidecar(apiKey === undefined ? {} : { apiKey });
    const port = await freePort();
    const serving = [`--secure-port=${port}`, "--bind-address=127.0.0.1", LOOPBACK];
    const controller = harness.startController({ args: [...QUICK, ...serving, ...args] });
    const directory = await mkdtemp(join(tmpdir(), "administrator-"));
    const { client } = await controlPlane.kubeconfigFor("administrator", ["system:masters"]);
    await writeFile(join(directory, "client.pem"), client.certificate);
    await writeFile(join(directory, "client-key.pem"), client.key, { mode: 0o600 });
    return new TroubledCluster({ harness, controller, sidecar, port, directory });
  }

  /** A machine, and its Node as its kubelet registers it. */
  async join(name: string, parts: NodeParts = {}): Promise<void> {
    await this.harness.createMachines([{ name, zone: "north-a" }]);
    await this.harness.registerNode(name, parts);
  }

  async createService(name: string, spec: object, annotations: object = {}): Promise<void> {
    await this.harness.kube.create(SERVICES, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, annotations },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80, protocol: "TCP" }], ...spec },
    });
  }

  async annotateService(name: string, annotations: object): Promise<void> {
    await this.harness.kube.patch(`${SERVICES}/${name}`, { metadata: { annotations } });
  }

  async deleteService(name: string): Promise<void> {
    await this.harness.kube.delete(`${SERVICES}/${name}`);
  }

  /** Id of the load balancer that a Service has in the cloud. */
  async loadBalancerOf(name: string): Promise<string> {
    const all = await this.harness.loadBalancers();
    const own = all.find(({ tags }) => tags["cloudwire.dev/service-name"] === name);
    if (own === undefined) throw new Error(`the cloud has no load balancer of Service ${name}`);
    return own.id;
  }

  /** From now on the cloud says that another cluster owns it. */
  async giveAway(loadBalancerId: string, clusterId: string): Promise<void> {
    const { tags } = await this.harness.cloud.getLoadBalancer(loadBalancerId, AbortSignal.timeout(CALL_MS));
    const changed = { ...tags, [CLUSTER_ID]: clusterId, "cloudwire.dev/cluster-name": clusterId };
    await this.harness.cloud.patchLoadBalancer(loadBalancerId, { tags: changed }, AbortSignal.timeout(CALL_MS));
  }

  /** Turns its deletion protection on in the cloud, as a user of the cloud would. */
  async protect(loadBalancerId: string): Promise<void> {
    await this.harness.cloud.patchLoadBalancer(loadBalancerId, { protected: true }, AbortSignal.timeout(CALL_MS));
  }

  async terminate(names: readonly string[]): Promise<void> {
    const signal = AbortSignal.timeout(CALL_MS);
    const { items } = await this.harness.cloud.listInstances({ pageSize: 1000, consistent: true }, signal);
    const ids = items.filter(({ name }) => names.includes(name)).map(({ id }) => id);
    await this.harness.cloud.terminateInstances(ids, signal);
  }

  /** What `kubectl describe` shows, once it says all that. White space is squeezed. */
  async described(kind: "node" | "service", name: string, patterns: readonly RegExp[], withinMs = 40_000) {
    let text = "";
    return eventually(
      `kubectl describe ${kind} ${name} to say ${patterns.join(" and ")}`,
      withinMs,
      async () => {
        text = (await this.harness.controlPlane.kubectl(["describe", kind, name])).replaceAll(/\s+/g, " ");
        return patterns.every((pattern) => pattern.test(text)) ? text : undefined;
      },
      () => `${text}\n${this.harness.outputs().slice(-6000)}`,
    );
  }

  /** Waits until `cloudwire explain` writes it; white space is squeezed. */
  async explains(object: string, what: string, isSo: (text: string) => boolean): Promise<void> {
    const [certificate, key] = [join(this.#directory, "client.pem"), join(this.#directory, "client-key.pem")];
    const server = [`--server=https://127.0.0.1:${this.#port}`, "--insecure-skip-tls-verify"];
    const args = ["explain", object, ...server, `--client-certificate=${certificate}`, `--client-key=${key}`];
    let said = "";
    await eventually(
      `the command line to say of ${object}: ${what}`,
      30_000,
      async () => {
        await using program = new Program({ source: SOURCE, args });
        const { code } = await program.exit();
        said = program.output;
        return code === 0 && isSo(said.replaceAll(/\s+/g, " ")) ? true : undefined;
      },
      () => said,
    );
  }

  /** Waits until a Service says so in its condition. */
  async says(name: string, reason: string): Promise<void> {
    await eventually(
      `Service ${name} to say ${reason}`,
      40_000,
      async () => {
        const conditions = listOf(at(await this.harness.kube.get(`${SERVICES}/${name}`), "status", "conditions"));
        return conditions.some((condition) => condition["reason"] === reason) ? true : undefined;
      },
      () => this.harness.outputs().slice(-6000),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.harness[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
