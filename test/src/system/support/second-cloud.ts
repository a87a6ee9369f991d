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
import { Program } from "../../support/program.ts";

const API_KEY = "west-key";
const CALL_MS = 60_000;

/** Another cloud and its sidecar, beside those of a World: its provider IDs are `west://…`. */
export class SecondCloud implements AsyncDisposable {
  readonly admin: AdminClient;
  readonly cloud: CloudClient;
  readonly #process: SpawnedCloud;
  readonly #folder: string;
  readonly #programs: Program[] = [];

  constructor(process: SpawnedCloud, folder: string) {
    this.admin = new AdminClient({ url: process.url });
    this.cloud = new CloudClient({ url: process.url, apiKey: API_KEY });
    this.#process = process;
    this.#folder = folder;
  }

  static async start(): Promise<SecondCloud> {
    const flags = { account: `west=${API_KEY}`, "load-balancer-pool": loopbackPools(process.pid).loadBalancerPool };
    return new SecondCloud(await spawnCloud({ flags }), await mkdtemp(join(tmpdir(), "west-")));
  }

  /** For the controller's command line. */
  get flag(): string {
    return `--provider=west=unix://${this.#socket}`;
  }

  get #socket(): string {
    return join(this.#folder, "provider.sock");
  }

  async startSidecar(...args: readonly string[]): Promise<Program> {
    const program = new Program({
      source: "providers/simulated/src/sidecar/main.ts",
      args: [`--cloud-url=${this.#process.url}`, "--brand=west", ...args],
      env: { CLOUD_PROVIDER_ENDPOINT: `unix://${this.#socket}`, SIMCLOUD_API_KEY: API_KEY },
    });
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
    await rm(this.#folder, { recursive: true, force: true });
  }
}
