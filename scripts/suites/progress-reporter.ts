import type { Reporter, TestModule, TestSpecification } from "vitest/node";
import { formatDuration } from "../lib/terminal.ts";

export interface ProgressOptions {
  readonly write: (line: string) => void;
  readonly nowMs: () => number;
  readonly everyMs: number;
}

/** Of the files that run, so many are named. */
const NAMED_FILES = 3;

/** Prints every few seconds how far the run is, for output that is not a terminal: vitest's own line of that kind needs one. */
export class ProgressReporter implements Reporter {
  readonly #options: ProgressOptions;
  readonly #running = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;
  #files = 0;
  #doneFiles = 0;
  #doneTests = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  onTestRunStart(specifications: readonly Pick<TestSpecification, "moduleId">[]): void {
    this.#files = specifications.length;
    this.#startedMs = this.#options.nowMs();
    this.#timer = setInterval(() => this.#options.write(this.#line()), this.#options.everyMs);
    this.#timer.unref();
  }

  onTestModuleStart(module: Pick<TestModule, "relativeModuleId">): void {
    this.#running.add(module.relativeModuleId);
  }

  onTestCaseResult(): void {
    this.#doneTests += 1;
  }

  onTestModuleEnd(module: Pick<TestModule, "relativeModuleId">): void {
    this.#running.delete(module.relativeModuleId);
    this.#doneFiles += 1;
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #line(): string {
    const elapsed = formatDuration(this.#options.nowMs() - this.#startedMs);
    const running = [...this.#running].slice(0, NAMED_FILES).join(", ");
    const counts = `${this.#doneFiles} of ${this.#files} files, ${this.#doneTests} tests done`;
    return `-- ${elapsed}: ${counts}${running === "" ? "" : `; running: ${running}`}`;
  }
}
