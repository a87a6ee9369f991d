import path from "node:path";
import type { Layout } from "./arguments.ts";
import { ControlPlaneError } from "../errors.ts";
import { ManagedProcess } from "./managed-process.ts";

/** The running programs of one control plane. */
export class Programs {
  readonly #binDir: string;
  readonly #layout: Layout;
  readonly #processes: ManagedProcess[] = [];
  #stopped = false;

  constructor(binDir: string, layout: Layout) {
    this.#binDir = binDir;
    this.#layout = layout;
  }

  /** Nothing of the caller's environment, such as a proxy or a kubeconfig of his, may get into a test. */
  get env(): Readonly<Record<string, string>> {
    return { PATH: process.env["PATH"] ?? "", HOME: this.#layout.dir, TMPDIR: this.#layout.scratch };
  }

  /** Every program ever started, in that order. */
  get all(): readonly ManagedProcess[] {
    return this.#processes;
  }

  async launch(program: string, args: readonly string[]): Promise<ManagedProcess> {
    this.#requireNotStopped(program);
    const count = this.#processes.filter((process) => process.program === program).length;
    const name = count === 0 ? program : `${program}-${count + 1}`;
    const started = await ManagedProcess.start({
      program,
      command: path.join(this.#binDir, program),
      args,
      cwd: this.#layout.dir,
      env: this.env,
      logPath: path.join(this.#layout.logs, `${name}.log`),
    });
    this.#processes.push(started);
    if (this.#stopped) await started.stop();
    this.#requireNotStopped(program);
    return started;
  }

  /** Ends them all at once. Nothing is worth a graceful end: the data goes too. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#processes.map((process) => process.stop()));
  }

  #requireNotStopped(program: string): void {
    if (this.#stopped) throw new ControlPlaneError("BAD_OPTIONS", `start ${program}: the control plane is stopped`);
  }
}
