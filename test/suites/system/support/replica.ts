import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program } from "../../../support/program.ts";

export interface ReplicaStart {
  readonly kubeconfigPath: string;
  readonly cloudUrl: string;
  readonly apiKey: string;
  /** Of the controller. */
  readonly args?: readonly string[];
}

/** One pod: a controller and a sidecar of its own, each of which can be stopped and started alone. */
export class Replica implements AsyncDisposable {
  readonly #start: ReplicaStart;
  readonly #directory: string;
  readonly #programs: Program[] = [];

  private constructor(start: ReplicaStart, directory: string) {
    this.#start = start;
    this.#directory = directory;
  }

  /** Nothing of it runs yet. */
  static async create(start: ReplicaStart): Promise<Replica> {
    return new Replica(start, await mkdtemp(join(tmpdir(), "replica-")));
  }

  async startSidecar(): Promise<Program> {
    const { cloudUrl, apiKey } = this.#start;
    const sidecar = this.#run({
      source: "providers/simulated/src/sidecar/main.ts",
      args: [`--cloud-url=${cloudUrl}`],
      env: { CLOUD_PROVIDER_ENDPOINT: `unix://${this.#socket}`, SIMCLOUD_API_KEY: apiKey },
    });
    await sidecar.said(/ready/);
    return sidecar;
  }

  startController(): Program {
    const { kubeconfigPath, args = [] } = this.#start;
    return this.#run({
      source: "controller/src/main.ts",
      args: [
        `--kubeconfig=${kubeconfigPath}`,
        `--provider=simulated=unix://${this.#socket}`,
        "--health-bind-address=127.0.0.1:0",
        "--secure-port=0",
        "-v=4",
        ...args,
      ],
    });
  }

  /** What its programs wrote, for the message of a test that fails. */
  get output(): string {
    return this.#programs.map(({ output }) => output).join("\n----\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await rm(this.#directory, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.#directory, "provider.sock");
  }

  #run(options: ConstructorParameters<typeof Program>[0]): Program {
    const program = new Program(options);
    this.#programs.push(program);
    return program;
  }
}
