import type { Counter, Gauge } from "prom-client";
import type { LiveOptions, OptionChange } from "../options/live-options.ts";
import type { Command } from "../options/parse.ts";
import type { Problem } from "../options/problem.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";

export interface ConfigReloaderDependencies {
  /** The file of --config. */
  readonly path: string;
  /** What it says now. */
  readonly readText: (path: string) => string;
  /** Command line, environment and file once more, in their order of precedence. */
  readonly parse: () => Command;
  readonly live: LiveOptions;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Told what is in force now that was not before. */
export type AppliedListener = (changes: readonly OptionChange[]) => void;

/** How the file stands against what is in force. */
export interface ReloadState {
  /** Wall clock; the start counts. */
  readonly lastSuccessMs: number;
  /** Of the last try; none: it succeeded. */
  readonly problems: readonly Problem[];
  /** Settings of the file that wait for a restart. */
  readonly needRestart: readonly OptionChange[];
}

/**
 * The file is looked at so often. Its content is compared, for a mounted ConfigMap changes by a symbolic link, and counts once it was seen
 * twice: half a file is valid, too.
 */
const LOOK_MS = 2000;

/** Follows the configuration file: a good one changes what can be changed, a bad one nothing. */
export class ConfigReloader {
  readonly #deps: ConfigReloaderDependencies;
  readonly #listeners = new Set<AppliedListener>();
  readonly #metrics: ReloadMetrics;
  /** Content that the settings in force come from, or that was refused. */
  #taken: string | undefined;
  #state: ReloadState;

  constructor(dependencies: ConfigReloaderDependencies) {
    this.#deps = dependencies;
    this.#metrics = reloadMetrics(dependencies.metrics);
    this.#taken = this.#read();
    this.#state = { lastSuccessMs: dependencies.clock.nowMs(), problems: [], needRestart: [] };
    this.#show();
  }

  get state(): ReloadState {
    return this.#state;
  }

  /** For whoever cannot read a setting when it is needed; answers how to end it. */
  onApplied(listener: AppliedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reloads whenever the content of the file has changed, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let seen = this.#taken;
    while (!signal.aborted) {
      await sleep(LOOK_MS, signal, this.#deps.clock).catch(() => undefined);
      if (signal.aborted) return;
      const now = this.#read();
      if (now === seen && now !== this.#taken) this.reload();
      seen = now;
    }
  }

  /** Takes the file as it is now. */
  reload(): void {
    const { live, clock } = this.#deps;
    this.#taken = this.#read();
    const command = this.#parse();
    if (command.kind === "run") {
      const { applied, needRestart } = live.apply(command.options);
      this.#tell(applied, needRestart);
      if (applied.length > 0) for (const listener of this.#listeners) listener(applied);
      this.#state = { lastSuccessMs: clock.nowMs(), problems: [], needRestart };
      this.#metrics.reloads.inc({ result: "success" });
    } else {
      const problems = command.kind === "invalid" ? command.problems : [];
      this.#refuse(problems);
      this.#state = { ...this.#state, problems };
      this.#metrics.reloads.inc({ result: "failure" });
    }
    this.#show();
  }

  /** A fault in reading a file is no reason to end a process that has good settings. */
  #parse(): Command {
    try {
      return this.#deps.parse();
    } catch (error) {
      return { kind: "invalid", problems: [{ where: this.#deps.path, what: messageOf(error) }] };
    }
  }

  #tell(applied: readonly OptionChange[], needRestart: readonly OptionChange[]): void {
    const { log, path } = this.#deps;
    log.info("Configuration file read again", { file: path, changes: applied.map((change) => changeText(change)) });
    if (needRestart.length === 0) return;
    log.warn("Settings that changed in the configuration file take effect at the next start", {
      file: path,
      changes: needRestart.map((change) => changeText(change)),
    });
  }

  #refuse(problems: readonly Problem[]): void {
    this.#deps.log.error("The changed configuration file is refused as a whole; what was in force stays", {
      file: this.#deps.path,
      problems: problems.map(({ where, what }) => `${where}: ${what}`),
    });
  }

  #show(): void {
    const { lastSuccessMs, needRestart } = this.#state;
    this.#metrics.lastSuccess.set(lastSuccessMs / 1000);
    this.#metrics.needRestart.set(needRestart.length);
  }

  /** undefined: it cannot be read; parsing it says why. */
  #read(): string | undefined {
    const { readText, path, log } = this.#deps;
    try {
      return readText(path);
    } catch (error) {
      log.debug(4, "The configuration file cannot be read", { file: path, problem: messageOf(error) });
      return undefined;
    }
  }
}

/** For `/configz`. */
export function reloadReport({ lastSuccessMs, problems, needRestart }: ReloadState): unknown {
  return { lastRead: new Date(lastSuccessMs).toISOString(), problems, needRestart };
}

/** A line for people. */
export function reloadSummary({ lastSuccessMs, problems, needRestart }: ReloadState): string {
  const read = `read ${new Date(lastSuccessMs).toISOString()}`;
  const refused =
    problems.length === 0
      ? ""
      : `; refused since: ${problems.map(({ where, what }) => `${where}: ${what}`).join("; ")}`;
  const waiting =
    needRestart.length === 0
      ? ""
      : `; at the next start: ${needRestart.map((change) => changeText(change)).join(", ")}`;
  return `${read}${refused}${waiting}`;
}

function changeText({ flag, from, to }: OptionChange): string {
  return `${flag} from ${from === "" ? "nothing" : from} to ${to === "" ? "nothing" : to}`;
}

interface ReloadMetrics {
  readonly reloads: Counter<"result">;
  readonly lastSuccess: Gauge;
  readonly needRestart: Gauge;
}

export function reloadMetrics(metrics: Metrics): ReloadMetrics {
  return {
    reloads: metrics.counter({
      name: "cloudwire_config_reloads_total",
      help: "Times the configuration file was read again, by result: success or failure. A file that fails changes nothing.",
      labels: ["result"],
    }),
    lastSuccess: metrics.gauge({
      name: "cloudwire_config_last_reload_success_timestamp_seconds",
      help: "When the configuration file was last read with success, the start included.",
    }),
    needRestart: metrics.gauge({
      name: "cloudwire_config_settings_needing_restart",
      help: "Settings of the configuration file that take effect at the next start only.",
    }),
  };
}
