import { type FileText, type ReadText, readFileText } from "../options/text-file.ts";
import type { LiveOptions, OptionChange } from "../options/live-options.ts";
import { type ReloadMetrics, reloadMetrics } from "./metrics.ts";
import type { Options, Reparsed } from "./options.ts";
import type { Problem } from "../options/flag.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { iso } from "../util/text.ts";

export interface ConfigReloaderDependencies {
  /** --config. */
  readonly path: string;
  /** The text that the settings in force come from. */
  readonly text: string | undefined;
  readonly readText: ReadText;
  /** Parses command line, environment and this text, in their order of precedence. Depends on nothing else. */
  readonly parse: (text: string) => Reparsed;
  readonly live: LiveOptions<Options>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export type AppliedListener = (changes: readonly OptionChange[]) => void;

export interface ReloadState {
  /** Wall clock, the start included. */
  readonly lastSuccessMs: number;
  /** Of the last reload; empty: it succeeded. */
  readonly problems: readonly Problem[];
  /** Changed settings that take effect at the next restart. */
  readonly needRestart: readonly OptionChange[];
}

/**
 * Contents are compared: a mounted ConfigMap changes by symbolic link. A change counts when it is read twice: half a file may be valid.
 */
const POLL_MS = 2000;

/** Reloads the configuration file: a valid one changes the reloadable settings, an invalid one nothing. */
export class ConfigReloader {
  readonly #deps: ConfigReloaderDependencies;
  readonly #listeners = new Set<AppliedListener>();
  readonly #metrics: ReloadMetrics;
  /** The last text that was applied or rejected; undefined: it could not be read. */
  #handled: string | undefined;
  #state: ReloadState;

  constructor(dependencies: ConfigReloaderDependencies) {
    this.#deps = dependencies;
    this.#metrics = reloadMetrics(dependencies.metrics);
    this.#handled = dependencies.text;
    this.#state = { lastSuccessMs: dependencies.clock.nowMs(), problems: [], needRestart: [] };
    this.#show();
  }

  get state(): ReloadState {
    return this.#state;
  }

  /** For settings that are not read at each use. */
  onApplied(listener: AppliedListener): void {
    this.#listeners.add(listener);
  }

  /** Reloads when the content has changed, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let seen = this.#handled;
    while (!signal.aborted) {
      await sleep(POLL_MS, signal, this.#deps.clock).catch(() => undefined);
      if (signal.aborted) return;
      const file = this.#read();
      const now = textOf(file);
      if (now === seen && now !== this.#handled) this.#handle(file);
      seen = now;
    }
  }

  reload(): void {
    this.#handle(this.#read());
  }

  #handle(file: FileText): void {
    const { live, clock } = this.#deps;
    this.#handled = textOf(file);
    const parsed = this.#parse(file);
    if (parsed.kind === "options") {
      const { applied, needRestart } = live.apply(parsed.options);
      this.#logChanges(applied, needRestart);
      if (applied.length > 0) for (const listener of this.#listeners) listener(applied);
      this.#state = { lastSuccessMs: clock.nowMs(), problems: [], needRestart };
      this.#metrics.reloads.inc({ result: "success" });
    } else {
      this.#logRejection(parsed.problems);
      this.#state = { ...this.#state, problems: parsed.problems };
      this.#metrics.reloads.inc({ result: "failure" });
    }
    this.#show();
  }

  /** Even a bug in parsing must not end a process with valid settings. */
  #parse(file: FileText): Reparsed {
    const { path, parse } = this.#deps;
    const invalid = (what: string): Reparsed => ({ kind: "invalid", problems: [{ where: path, what }] });
    if (file.kind === "unreadable") return invalid(file.what);
    try {
      return parse(file.text);
    } catch (error) {
      return invalid(messageOf(error));
    }
  }

  #logChanges(applied: readonly OptionChange[], needRestart: readonly OptionChange[]): void {
    const { log, path } = this.#deps;
    log.info("Reloaded the configuration file", { file: path, changes: applied.map((change) => changeText(change)) });
    if (needRestart.length === 0) return;
    log.warn("Changed settings of the configuration file take effect at the next restart", {
      file: path,
      changes: needRestart.map((change) => changeText(change)),
    });
  }

  #logRejection(problems: readonly Problem[]): void {
    this.#deps.log.error("Rejected the changed configuration file; the previous settings stay in force", {
      file: this.#deps.path,
      problems: problems.map(({ where, what }) => `${where}: ${what}`),
    });
  }

  #show(): void {
    const { lastSuccessMs, problems, needRestart } = this.#state;
    this.#metrics.lastSuccessful.set(problems.length === 0 ? 1 : 0);
    this.#metrics.lastSuccess.set(lastSuccessMs / 1000);
    this.#metrics.needRestart.set(needRestart.length);
  }

  #read(): FileText {
    const { readText, path } = this.#deps;
    return readFileText(path, readText);
  }
}

function textOf(file: FileText): string | undefined {
  return file.kind === "text" ? file.text : undefined;
}

/** For `/configz`. */
export function reloadReport({ lastSuccessMs, problems, needRestart }: ReloadState): unknown {
  return { lastRead: iso(lastSuccessMs), problems, needRestart };
}

/** For `/statusz`. */
export function reloadSummary({ lastSuccessMs, problems, needRestart }: ReloadState): string {
  const read = `read ${iso(lastSuccessMs)}`;
  const rejected =
    problems.length === 0
      ? ""
      : `; rejected since: ${problems.map(({ where, what }) => `${where}: ${what}`).join("; ")}`;
  const pending =
    needRestart.length === 0
      ? ""
      : `; at the next restart: ${needRestart.map((change) => changeText(change)).join(", ")}`;
  return `${read}${rejected}${pending}`;
}

function changeText({ flag, from, to }: OptionChange): string {
  return `${flag} from ${from === "" ? "nothing" : from} to ${to === "" ? "nothing" : to}`;
}
