import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AdminClient,
  CloudClient,
  type InstanceSpec,
  loopbackPools,
  spawnCloud,
  type SpawnedCloud,
} from "@cloudwire/provider-simulated";
import { Program } from "../../../../support/program.ts";
import { containerProgram, readPod, shareWithContainers } from "../containers.ts";

const API_KEY = "west-key";
const CALL_MS = 60_000;

/** Its addresses are none of the Harness's of this process, or of one that runs beside it. */
const FAR_FROM_WORLD = 4096;

/** Another cloud and its sidecar, beside those of a Harness: its provider IDs are `west://…`. */
export class SecondCloud implements AsyncDisposable {
  readonly admin: AdminClient;
  readonly cloud: CloudClient;
  readonly #process: SpawnedCloud;
  readonly #directory: string;
  readonly #programs: Program[] = [];

  constructor(process: SpawnedCloud, directory: string) {
    this.admin = new AdminClient({ url: process.url });
    this.cloud = new CloudClient({ url: process.url, apiKey: API_KEY });
    this.#process = process;
    this.#directory = directory;
  }

  static async start(): Promise<SecondCloud> {
    const { loadBalancerPool } = loopbackPools(process.pid + FAR_FROM_WORLD);
    const flags = { account: `west=${API_KEY}`, "load-balancer-pool": loadBalancerPool };
    const directory = await mkdtemp(join(tmpdir(), "west-"));
    await shareWithContainers(directory);
    return new SecondCloud(await spawnCloud({ flags }), directory);
  }

  /** For the controller's command line. */
  get flag(): string {
    return `--provider=west=unix://${this.#socket}`;
  }

  get #socket(): string {
    return join(this.#directory, "provider.sock");
  }

  async startSidecar(...args: readonly string[]): Promise<Program> {
    const run = {
      args: [`--cloud-url=${this.#process.url}`, "--brand=west", ...args],
      env: { CLOUD_PROVIDER_ENDPOINT: `unix://${this.#socket}`, SIMCLOUD_API_KEY: API_KEY },
    };
    const pod = readPod();
    const program = new Program(
      pod === undefined
        ? { source: "providers/simulated/src/sidecar/main.ts", ...run }
        : containerProgram(pod, "cloudwire-provider-simulated", run),
    );
    this.#programs.push(program);
    await program.said(/ready/);
    return program;
  }

  /** Machines, running; answers their provider IDs by name. */
  async createMachines(specs: readonly InstanceSpec[]): Promise<ReadonlyMap<string, string>> {
    const made = await this.cloud.createInstances(specs, AbortSignal.timeout(CALL_MS));
    return new Map(made.map(({ name, zone, id }) => [name, `west://${zone}/${id}`]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#process.stop("SIGKILL");
    await rm(this.#directory, { recursive: true, force: true });
  }
}
