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
  /** The file of --config. */
  readonly path: string;
  /** What it said when the settings in force were made of it. */
  readonly text: string | undefined;
  /** What it says now; throws when it cannot be read. */
  readonly readText: ReadText;
  /**
   * Command line, environment and that text in the place of the file, in their order of precedence. Nothing else decides: what is
   * refused once is refused until the text changes.
   */
  readonly parse: (text: string) => Reparsed;
  readonly live: LiveOptions<Options>;
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
  /** Text that the settings in force come from, or that was refused; undefined: it could not be read. */
  #taken: string | undefined;
  #state: ReloadState;

  constructor(dependencies: ConfigReloaderDependencies) {
    this.#deps = dependencies;
    this.#metrics = reloadMetrics(dependencies.metrics);
    this.#taken = dependencies.text;
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
      const file = this.#read();
      const now = textOf(file);
      if (now === seen && now !== this.#taken) this.#take(file);
      seen = now;
    }
  }

  /** Takes the file as it is now. */
  reload(): void {
    this.#take(this.#read());
  }

  #take(file: FileText): void {
    const { live, clock } = this.#deps;
    this.#taken = textOf(file);
    const parsed = this.#parse(file);
    if (parsed.kind === "options") {
      const { applied, needRestart } = live.apply(parsed.options);
      this.#tell(applied, needRestart);
      if (applied.length > 0) for (const listener of this.#listeners) listener(applied);
      this.#state = { lastSuccessMs: clock.nowMs(), problems: [], needRestart };
      this.#metrics.reloads.inc({ result: "success" });
    } else {
      this.#refuse(parsed.problems);
      this.#state = { ...this.#state, problems: parsed.problems };
      this.#metrics.reloads.inc({ result: "failure" });
    }
    this.#show();
  }

  /** A fault in reading a file is no reason to end a process that has good settings. */
  #parse(file: FileText): Reparsed {
    const { path, parse } = this.#deps;
    const refused = (what: string): Reparsed => ({ kind: "invalid", problems: [{ where: path, what }] });
    if (file.kind === "unreadable") return refused(file.what);
    try {
      return parse(file.text);
    } catch (error) {
      return refused(messageOf(error));
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

/** A line for people. */
export function reloadSummary({ lastSuccessMs, problems, needRestart }: ReloadState): string {
  const read = `read ${iso(lastSuccessMs)}`;
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
