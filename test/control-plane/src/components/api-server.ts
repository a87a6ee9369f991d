import type { ApiClient } from "../api-client.ts";
import { ControlPlaneError } from "../errors.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { type ServerContext, type ServerSpec, startOnFreePort, waitUntilReady } from "./servers.ts";

/** It closes its port at once and lets running requests end; watches, which no one ends, would hold it for a minute. */
const graceMs = 1_000;

/** kube-apiserver, which tests stop and start again. */
export class ApiServer {
  readonly #spec: ServerSpec;
  readonly #context: ServerContext;
  readonly #port: number;
  #process: ManagedProcess;

  private constructor(spec: ServerSpec, context: ServerContext, port: number, process: ManagedProcess) {
    this.#spec = spec;
    this.#context = context;
    this.#port = port;
    this.#process = process;
  }

  static async start(args: (port: number) => readonly string[], context: ServerContext): Promise<ApiServer> {
    const spec = { program: "kube-apiserver", args, readyPath: "/readyz" };
    const { port, process } = await startOnFreePort(spec, context);
    return new ApiServer(spec, context, port, process);
  }

  /** Its address and the administrator's identity. */
  get admin(): ApiClient {
    const { caPem, client } = this.#context;
    return { server: `https://127.0.0.1:${this.#port}`, caPem, client };
  }

  async stop(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await this.#process.stop(signal === "SIGTERM" ? graceMs : 0);
  }

  /** Starts it again, on the same port and data. */
  async startAgain(): Promise<void> {
    if (this.#process.exit === undefined) {
      throw new ControlPlaneError("BAD_OPTIONS", `start kube-apiserver: it runs already (pid ${this.#process.pid})`);
    }
    this.#process = await this.#context.launch(this.#spec.program, this.#spec.args(this.#port));
    await waitUntilReady(this.#spec, this.#process, this.#port, this.#context);
  }
}
