import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program, type ProgramOptions } from "../../support/program.ts";
import type { Host } from "./subject.ts";

/** A directory, programs and clouds that end together. */
export class TestHost implements Host, AsyncDisposable {
  readonly directory: string;
  readonly #started: AsyncDisposableStack;

  private constructor(directory: string, started: AsyncDisposableStack) {
    this.directory = directory;
    this.#started = started;
  }

  static async create(): Promise<TestHost> {
    const started = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), "conformance-"));
    started.defer(() => rm(directory, { recursive: true, force: true }));
    return new TestHost(directory, started);
  }

  run(options: ProgramOptions): Program {
    return this.#started.use(new Program(options));
  }

  readonly defer = (end: () => Promise<void>): void => {
    this.#started.defer(end);
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.#started.disposeAsync();
  }
}
