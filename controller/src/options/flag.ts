/** What came of reading one value: the value, or what is wrong with the text and what would be right. */
export type Parsed<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "problem"; readonly problem: string };

/** One setting: everything that the parser, `--help` and the reference page need to know of it. */
export interface Flag<T> {
  /** Heading under which `--help` lists it. */
  readonly group: FlagGroup;
  /** What it does, one sentence without full stop; units and limits included. */
  readonly help: string;
  /** Word for the value in `--help`; a boolean has none. */
  readonly valueName: string | undefined;
  readonly defaultValue: T;
  /** How it is not what upstream's flag of this name is, in default or meaning, and why: a clause without full stop. */
  readonly differs?: string;
  /** A change of the configuration file takes effect without a restart. @default false */
  readonly reloadable?: boolean;
  /** Where upstream's configuration file has it: `Generic.LeaderElection.LeaseDuration`. @default it does not; it is in the section Cloudwire */
  readonly path?: string;
  readonly shape: Shape;
  /** Reads one occurrence; `before` is the value so far, for flags that may be repeated. */
  parse(text: string, before: T | undefined): Parsed<T>;
  /** The value as a configuration file has it: what `parse` reads. */
  write(value: T): Written;
}

/** What a value looks like in a configuration file; its schema and shell completion are made from it. */
export type Shape =
  | { readonly kind: "text" }
  | { readonly kind: "boolean" }
  | { readonly kind: "number"; readonly whole: boolean; readonly min: number; readonly max?: number }
  | { readonly kind: "duration"; readonly minMs: number }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | {
      readonly kind: "list";
      /** The only items there are; absent: any text. */
      readonly choices?: readonly string[];
      /** Regular expression that each item matches. */
      readonly pattern?: string;
    };

export type Written = string | number | boolean | readonly string[];

export type FlagGroup =
  | "configuration"
  | "mode"
  | "provider"
  | "kubernetes"
  | "controllers"
  | "leader election"
  | "serving"
  | "webhooks"
  | "logging"
  | "audit"
  | "recording"
  | "tracing"
  | "upstream";

interface Words {
  readonly group: FlagGroup;
  readonly help: string;
  readonly differs?: string;
  readonly reloadable?: boolean;
  readonly path?: string;
}

/** The default as a user would write it; empty: there is none to show. */
export function defaultText(flag: Flag<unknown>): string {
  return String(flag.write(flag.defaultValue));
}

export function value<T>(parsed: T): Parsed<T> {
  return { kind: "value", value: parsed };
}

export function problem<T>(text: string): Parsed<T> {
  return { kind: "problem", problem: text };
}

export function stringFlag(
  words: Words & { readonly valueName: string; readonly defaultValue?: string },
): Flag<string> {
  const defaultValue = words.defaultValue ?? "";
  return { ...words, defaultValue, shape: { kind: "text" }, parse: (text) => value(text), write: (given) => given };
}

/** As Go reads them (strconv.ParseBool). */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "t", "T", "TRUE", "True"].map((text) => [text, true] as const),
  ...["false", "0", "f", "F", "FALSE", "False"].map((text) => [text, false] as const),
]);

export function boolFlag(words: Words & { readonly defaultValue: boolean }): Flag<boolean> {
  return {
    ...words,
    valueName: undefined,
    shape: { kind: "boolean" },
    parse: (text) => {
      const given = BOOLEANS.get(text);
      return given === undefined ? problem(`"${text}" is neither true nor false`) : value(given);
    },
    write: (given) => given,
  };
}

interface Bounds {
  readonly min: number;
  readonly max?: number;
}

/** Go would take a zero before other digits for octal, so nobody may rely on either. */
const DECIMAL = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)$/;

export function numberFlag(
  words: Words & Bounds & { readonly valueName: string; readonly defaultValue: number; readonly whole: boolean },
): Flag<number> {
  const { min, max, whole, ...rest } = words;
  const wanted = whole ? "a whole number" : "a number";
  return {
    ...rest,
    shape: { kind: "number", whole, min, ...(max === undefined ? {} : { max }) },
    parse: (text) => {
      const number = DECIMAL.test(text) ? Number(text) : Number.NaN;
      const fits = Number.isFinite(number) && (!whole || Number.isInteger(number));
      return fits && within(number, words) ? value(number) : problem(`"${text}" is not ${wanted} ${rangeOf(words)}`);
    },
    write: (given) => given,
  };
}

export function durationFlag(words: Words & { readonly min: number; readonly defaultValue: number }): Flag<number> {
  const { min, ...rest } = words;
  return {
    ...rest,
    valueName: "duration",
    shape: { kind: "duration", minMs: min },
    parse: (text) => {
      const durationMs = parseDurationMs(text);
      if (durationMs === undefined) return problem(`"${text}" is not a duration; write it like 300ms, 15s or 1m30s`);
      return durationMs >= min ? value(durationMs) : problem(`${text} is shorter than ${formatDuration(min)}`);
    },
    write: formatDuration,
  };
}

export function listFlag(
  words: Words & { readonly valueName: string; readonly defaultValue: readonly string[] },
): Flag<readonly string[]> {
  return {
    ...words,
    shape: { kind: "list" },
    // Nothing, as opposed to one empty item, is how a default is emptied.
    parse: (text, before) =>
      value([...(before ?? []), ...(text === "" ? [] : text.split(",").map((item) => item.trim()))]),
    write: (given) => given,
  };
}

export function choiceFlag<Choice extends string>(
  words: Words & { readonly choices: readonly Choice[]; readonly defaultValue: Choice },
): Flag<Choice> {
  const { choices, ...rest } = words;
  return {
    ...rest,
    valueName: choices.join("|"),
    shape: { kind: "choice", choices },
    parse: (text) => {
      const choice = choices.find((candidate) => candidate === text);
      return choice === undefined ? problem(`"${text}" is not one of ${choices.join(", ")}`) : value(choice);
    },
    write: (given) => given,
  };
}

function within(number: number, { min, max }: Bounds): boolean {
  return number >= min && (max === undefined || number <= max);
}

function rangeOf({ min, max }: Bounds): string {
  return max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
}

/** Durations as Go prints and parses them: `300ms`, `1m30s`, `5m0s`, `0`. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Go's time.ParseDuration, but for a sign. */
export const DURATION = /^(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

/** Milliseconds, or undefined when `text` is not a duration. Negative ones are refused: no setting of ours takes one. */
export function parseDurationMs(text: string): number | undefined {
  if (text === "0") return 0;
  if (!DURATION.test(text)) return undefined;
  const parts = text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g);
  return [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ""] ?? 0), 0);
}

/** `5m0s`, as Go prints it. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return "0s";
  if (durationMs < 1000) return `${durationMs}ms`;
  const hours = Math.floor(durationMs / 3_600_000);
  const minutes = Math.floor((durationMs % 3_600_000) / 60_000);
  const seconds = (durationMs % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** Where to listen, or whom to call. */
export interface HostPort {
  /** An IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `[v6]:port`; undefined when it is neither. */
export function parseAddress(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] === "" ? "0.0.0.0" : (match[2] ?? "")), port };
}

/** Something wrong with the settings: where, what, and what to do. */
export interface Problem {
  /** The flag as a user writes it, `--provider`. */
  readonly where: string;
  readonly what: string;
}

/** One setting, if it is said, and what is wrong with it; `Wrong` is how its reader tells that. */
export interface Setting<Value, Wrong = Problem> {
  readonly value: Value | undefined;
  readonly problems: readonly Wrong[];
}

/** One value of one setting, as somebody wrote it. */
export interface Occurrence {
  /** Key in the table of options. */
  readonly key: string;
  readonly text: string;
  /** Where it was written, for messages: `--cluster-name`, `CLOUDWIRE_CLUSTER_NAME`, `/etc/ccm.yaml:4: KubeCloudShared.ClusterName`. */
  readonly where: string;
}

/** What one place says: a command line, the environment, a file. */
export interface Said {
  readonly occurrences: readonly Occurrence[];
  /** What cannot be meant as a setting. */
  readonly problems: readonly Problem[];
  /** What was said in vain. */
  readonly warnings: readonly Problem[];
  /** Keys of settings whose problem hides what they were meant to be; "all" when nothing could be read. */
  readonly lost: readonly string[] | "all";
}

export const NOTHING_SAID: Said = { occurrences: [], problems: [], warnings: [], lost: [] };
