export type Parsed<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "problem"; readonly problem: string };

/** One setting, for the parser, `--help` and the reference page. */
export interface Flag<T> {
  /** Heading in `--help`. */
  readonly group: FlagGroup;
  /** One sentence without a period; units and limits included. */
  readonly help: string;
  /** Placeholder of the value in `--help`; undefined for a boolean. */
  readonly valueName: string | undefined;
  readonly defaultValue: T;
  /** How default or meaning differ from upstream's flag of the same name, and why: a clause without a period. */
  readonly differs?: string;
  /** Changes in the configuration file need no restart. @default false */
  readonly reloadable?: boolean;
  /** Path in upstream's configuration file: `Generic.LeaderElection.LeaseDuration`. @default in the section Cloudwire */
  readonly path?: string;
  /** Path in the configuration file of an earlier minor of upstream; `path` takes precedence. */
  readonly previousPath?: string;
  readonly shape: Shape;
  /** @param before the value so far, for flags that can be repeated */
  parse(text: string, before: T | undefined): Parsed<T>;
  /** The value in a configuration file, which `parse` can read. */
  write(value: T): Written;
}

/** Type of the value in a configuration file, for its schema and shell completion. */
export type Shape =
  | { readonly kind: "text" }
  | { readonly kind: "boolean" }
  | { readonly kind: "number"; readonly whole: boolean; readonly min: number; readonly max?: number }
  | { readonly kind: "duration"; readonly minMs: number }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | {
      readonly kind: "list";
      /** Allowed items; absent: any text. */
      readonly choices?: readonly string[];
      /** Regular expression for each item. */
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

type Words = Pick<Flag<unknown>, "group" | "help" | "differs" | "reloadable" | "path" | "previousPath">;

/** The default as a user writes it; empty: nothing to show. */
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

/** Go's strconv.ParseBool. */
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

/** Without leading zeros, which Go reads as octal. */
const DECIMAL = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)$/;

export function numberFlag(
  words: Words & {
    readonly valueName: string;
    readonly defaultValue: number;
    readonly min: number;
    readonly max?: number;
    readonly whole: boolean;
  },
): Flag<number> {
  const { min, max, whole, ...rest } = words;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    ...rest,
    shape: { kind: "number", whole, min, ...(max === undefined ? {} : { max }) },
    parse: (text) => {
      const number = DECIMAL.test(text) ? Number(text) : Number.NaN;
      const isValid = whole ? Number.isInteger(number) : Number.isFinite(number);
      return isValid && number >= min && number <= (max ?? number)
        ? value(number)
        : problem(`"${text}" is not a ${whole ? "whole " : ""}number ${range}`);
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
    // An empty text clears a default.
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

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Go's time.ParseDuration without a sign. */
export const DURATION = /^(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

/** In milliseconds; undefined: `text` is not a duration. Rejects negative ones, which no setting takes. */
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

export interface HostPort {
  /** IPv6 addresses are without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `[v6]:port`. */
export function parseAddress(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] === "" ? "0.0.0.0" : (match[2] ?? "")), port };
}

export interface Problem {
  /** As a user writes it: `--provider`. */
  readonly where: string;
  readonly what: string;
}

/** A setting, undefined unless it is set and valid. */
export interface Setting<Value, Wrong = Problem> {
  readonly value: Value | undefined;
  readonly problems: readonly Wrong[];
}

/** One value of one setting, as written. */
export interface Occurrence {
  /** Key in the table of options. */
  readonly key: string;
  readonly text: string;
  /** For messages: `--cluster-name`, `CLOUDWIRE_CLUSTER_NAME`, `/etc/ccm.yaml:4: KubeCloudShared.ClusterName`. */
  readonly where: string;
}

/** The settings of one source: command line, environment or file. */
export interface Said {
  readonly occurrences: readonly Occurrence[];
  readonly problems: readonly Problem[];
  /** Ignored settings. */
  readonly warnings: readonly Problem[];
  /** Keys of settings whose value is unknown because of a problem. */
  readonly lost: readonly string[] | "all";
}

export const NOTHING_SAID: Said = { occurrences: [], problems: [], warnings: [], lost: [] };

export function saidWrong(where: string, what: string): Said {
  return { ...NOTHING_SAID, problems: [{ where, what }] };
}

export function allSaid(parts: readonly Said[]): Said {
  return {
    occurrences: parts.flatMap(({ occurrences }) => occurrences),
    problems: parts.flatMap(({ problems }) => problems),
    warnings: parts.flatMap(({ warnings }) => warnings),
    lost: parts.some(({ lost }) => lost === "all") ? "all" : parts.flatMap(({ lost }) => lost),
  };
}
