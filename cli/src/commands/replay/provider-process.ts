import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError } from "../../errors.ts";

/** How long a provider may take for its end before it is killed. */
const END_MS = 10_000;
/** Of its output kept for a message. */
const KEPT_BYTES = 4000;

/** A provider that is started for one replay: a command of a shell that is told by CLOUD_PROVIDER_ENDPOINT where to serve. */
export class ProviderProcess implements AsyncDisposable {
  readonly address: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #failed = Promise.withResolvers<never>();
  #output = "";
  #isEnding = false;

  private constructor(command: string, folder: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#folder = folder;
    this.address = `unix://${join(folder, "provider.sock")}`;
    this.#process = spawn("sh", ["-c", command], {
      env: { ...environment, CLOUD_PROVIDER_ENDPOINT: this.address },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that it ends whole.
      detached: true,
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-KEPT_BYTES);
      });
    }
    this.#failed.promise.catch(() => undefined);
    this.#ended = new Promise((resolve) => {
      this.#process.once("error", () => resolve());
      this.#process.once("close", () => resolve());
    });
    void this.#watch();
  }

  static async start(
    command: string,
    environment: Readonly<Record<string, string | undefined>>,
  ): Promise<ProviderProcess> {
    return new ProviderProcess(command, await mkdtemp(join(tmpdir(), "replay-")), environment);
  }

  /** Rejects when the provider ends before it is told to. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    this.#signal("SIGTERM");
    const kill = setTimeout(() => this.#signal("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(kill);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #watch(): Promise<void> {
    await this.#ended;
    if (this.#isEnding) return;
    this.#failed.reject(new CommandError(`the provider has ended; its last words:\n${this.#output}`));
  }

  #signal(name: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // It has ended.
    }
  }
}
