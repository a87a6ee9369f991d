import { parseArgs } from "node:util";
import { UsageError, errorText } from "../errors.ts";
import { type Level, levels, type ProfileName, profiles } from "../suite/check.ts";
import { type FormatName, formats } from "../report/formats.ts";
import { type Transport, transports } from "../endpoint/place.ts";
import type { TlsFiles } from "../endpoint/tls.ts";

/** The program's commands. */
export const commands = {
  run: "runs the checks against --endpoint, or against a provider that it starts and ends",
  list: "every check, or those of --profile and --run; with --why also which would run, and why the others would not",
  explain: "a check's worth, rules and usual faults: explain err.field.path",
  inspect: "what a provider says of itself, and which profiles are tested",
  selftest:
    "shows that checks fail when they have to: puts one fault after the other into the kit's own provider, or into yours",
  "serve-fake": "serves the kit's own provider, which is correct, to try the kit and clients of the contract on",
  cleanup:
    "removes what runs have left that were killed: cleanup report/resources.jsonl, or --run-id, or --all-older-than 24h",
  report:
    "report verify a.json: can it be true? report merge a.json b.json: one of several runs; report badge a.json --output b.svg",
  init: "a configuration to fill in, made for what the provider claims",
} as const;

/** The options of all commands: what they mean, for the parser and for --help. */
const options = {
  endpoint: {
    type: "string",
    value: "endpoint",
    help: "A provider that runs already: unix:///path.sock, tcp://host:port or dns:///host:port.",
  },
  "tls-ca": { type: "string", value: "file", help: "Authorities of the provider's certificate, PEM: TLS over TCP." },
  "tls-cert": { type: "string", value: "file", help: "The kit's own certificate, which the provider accepts, PEM." },
  "tls-key": { type: "string", value: "file", help: "Its key, PEM." },
  "tls-server-name": {
    type: "string",
    value: "name",
    help: "The name that the provider's certificate is for. Default: the host.",
  },
  transport: {
    type: "string",
    value: "name",
    help: "How a provider behind -- is served: unix, or tls with certificates that the kit makes. Default unix.",
  },
  profile: {
    type: "string",
    multiple: true,
    value: "name",
    help: `What to test: ${Object.keys(profiles).join(", ")}. Default: all that the provider claims.`,
  },
  level: {
    type: "string",
    value: "letter",
    help: "Highest level that runs: S no cloud needed, R reads, M changes, D restarts, X size. Default R.",
  },
  run: {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Only these checks: err.frame.garbage, err.*, val.**, or @file with one a line.",
  },
  skip: {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Not these checks; @file works here, too, and below.",
  },
  "known-failing": {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Checks that must fail; one that passes is a failure.",
  },
  "known-flaky": { type: "string", multiple: true, value: "pattern", help: "Checks that are tried three times." },
  config: { type: "string", value: "file", help: "YAML file with what the vendor supplies: see the package's README." },
  format: { type: "string", value: "name", help: `${Object.keys(formats).join(", ")}. Default pretty.` },
  output: { type: "string", value: "file", help: "Where the report goes. Default: standard output." },
  report: { type: "string", value: "directory", help: "Writes the report in every format into a directory, too." },
  plan: { type: "boolean", help: "Prints what the run would do and create in the cloud, and does nothing." },
  yes: {
    type: "boolean",
    help: "Confirms that the run may create what --plan prints. Required unless --config has testCloud.",
  },
  why: { type: "boolean", help: "With list: whether each check would run, and why not." },
  "include-ids": {
    type: "boolean",
    help: "Keeps the account's and machines' ids in written reports. Default: they are replaced.",
  },
  "run-id": {
    type: "string",
    value: "uuid",
    help: "With cleanup: remove what this run has created, found by its ownership tag.",
  },
  "all-older-than": {
    type: "string",
    value: "24h",
    help: "With cleanup: what all runs have left whose last change is so long ago; words behind it are directories to look in.",
  },
  trace: { type: "boolean", help: "Writes each call to standard error, as a grpcurl command where there is one." },
  seed: {
    type: "string",
    value: "number",
    help: "Decides the order of the checks. Default: random, recorded in the report.",
  },
  parallel: { type: "string", value: "number", help: "Checks at once. Default 4." },
  "slow-factor": {
    type: "string",
    value: "number",
    help: "Multiplies thresholds and patience on slow machines. Default 1.",
  },
  long: {
    type: "boolean",
    help: "Waits in checks of heartbeats, idle connections and stalled readers as long as the contract says: minutes.",
  },
  "cleanup-timeout": {
    type: "string",
    value: "seconds",
    help: "How long the removal of what was made may take. Default 300.",
  },
  "start-timeout": {
    type: "string",
    value: "seconds",
    help: "How long the provider may take to be ready. Default 10.",
  },
  only: { type: "string", multiple: true, value: "fault", help: "selftest: only these faults, by name." },
  seeds: { type: "string", value: "number", help: "selftest: runs without fault with further seeds. Default 1." },
  thorough: { type: "boolean", help: "selftest: every check on every fault, also those that cannot see it." },
  faults: {
    type: "string",
    multiple: true,
    value: "name",
    help: "serve-fake: faults that it has, of those of selftest.",
  },
  help: { type: "boolean", help: "This text." },
} as const;

/** A command line that was understood. */
export interface Arguments {
  readonly command: string;
  /** Words behind the command. */
  readonly words: readonly string[];
  /** What stands behind `--`. */
  readonly provider: readonly string[];
  readonly endpoint?: string | undefined;
  /** Undefined: no option of TLS was given. */
  readonly tls?: TlsFiles | undefined;
  readonly transport: Transport;
  readonly config?: string | undefined;
  readonly output?: string | undefined;
  readonly report?: string | undefined;
  readonly profiles: readonly ProfileName[];
  readonly run: readonly string[];
  readonly skip: readonly string[];
  readonly knownFailing: readonly string[];
  readonly knownFlaky: readonly string[];
  readonly level: Level;
  /** Default: pretty. */
  readonly format: FormatName | undefined;
  /** Only prints what a run would do. */
  readonly plan: boolean;
  /** The run may create what the plan lists. */
  readonly yes: boolean;
  readonly why: boolean;
  readonly includeIds: boolean;
  readonly runId?: string | undefined;
  readonly allOlderThanMs?: number | undefined;
  readonly trace: boolean;
  /** Names of faults that a selftest is about. */
  readonly only: readonly string[];
  /** Names of faults that the fake is to have. */
  readonly faults: readonly string[];
  readonly seeds: number;
  readonly thorough: boolean;
  readonly help: boolean;
  readonly seed: number;
  readonly parallel: number;
  readonly slowFactor: number;
  readonly long: boolean;
  readonly startTimeoutMs: number;
  readonly cleanUpTimeoutMs: number;
}

/** Reads a command line. Throws a UsageError for one that makes no sense. */
export const parseArguments = (argv: readonly string[], random: () => number): Arguments => {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  const { values, positionals } = parsed(own);
  const [command = "", ...words] = positionals;
  return {
    command,
    words,
    provider: end < 0 ? [] : argv.slice(end + 1),
    endpoint: values.endpoint,
    tls: tlsFiles({
      ca: values["tls-ca"],
      cert: values["tls-cert"],
      key: values["tls-key"],
      serverName: values["tls-server-name"],
    }),
    config: values.config,
    output: values.output,
    report: values.report,
    runId: values["run-id"],
    allOlderThanMs: ageIn("--all-older-than", values["all-older-than"]),
    ...listsOf(values),
    ...wordsOf(values),
    ...flagsOf(values),
    ...numbersOf(values, random),
  };
};

type Values = ReturnType<typeof parsed>["values"];

const listsOf = ({ profile = [], run = [], skip = [], only = [], faults = [], ...values }: Values) => ({
  profiles: profile.map((name) => oneOf("--profile", name, profileNames)),
  run,
  skip,
  knownFailing: values["known-failing"] ?? [],
  knownFlaky: values["known-flaky"] ?? [],
  only,
  faults: faults.flatMap((names) => names.split(",")),
});

const wordsOf = ({ transport = "unix", level = "R", format }: Values) => ({
  transport: oneOf("--transport", transport, transports),
  level: oneOf("--level", level, levels),
  format: format === undefined ? undefined : oneOf("--format", format, formatNames),
});

const flagsOf = (values: Values) => {
  const {
    plan = false,
    yes = false,
    why = false,
    trace = false,
    thorough = false,
    help = false,
    long = false,
  } = values;
  return { plan, yes, why, trace, thorough, help, long, includeIds: values["include-ids"] ?? false };
};

const numbersOf = (values: Values, random: () => number) => ({
  seeds: numberIn("--seeds", values.seeds ?? "1", 0, 1_000),
  seed: numberIn("--seed", values.seed ?? String(Math.floor(random() * 1e9)), 0, 2 ** 31),
  parallel: numberIn("--parallel", values.parallel ?? "4", 1, 64),
  slowFactor: numberIn("--slow-factor", values["slow-factor"] ?? "1", 0.1, 100),
  cleanUpTimeoutMs: numberIn("--cleanup-timeout", values["cleanup-timeout"] ?? "300", 0.1, 86_400) * 1_000,
  startTimeoutMs: numberIn("--start-timeout", values["start-timeout"] ?? "10", 0.1, 3_600) * 1_000,
});

const tlsFiles = (files: TlsFiles): TlsFiles | undefined =>
  Object.values(files).every((value) => value === undefined) ? undefined : files;

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] => {
  const keys: Key[] = [];
  for (const key in table) keys.push(key);
  return keys;
};
const profileNames = keysOf(profiles);
const formatNames = keysOf(formats);

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${errorText(error)}; --help lists the options`, {
      cause: error,
    });
  }
};

const oneOf = <Word extends string>(option: string, text: string, words: readonly Word[]): Word => {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new UsageError(`${option} is ${text}; it is one of ${words.join(", ")}`);
  return word;
};

const numberIn = (option: string, text: string, least: number, most: number): number => {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!(number >= least && number <= most))
    throw new UsageError(`${option} is ${text}; it is a number from ${least} to ${most}`);
  return number;
};

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const ageIn = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const [, number = "", unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  if (unit !== "m" && unit !== "h" && unit !== "d")
    throw new UsageError(`${option} is ${text}; it is a number of minutes, hours or days: 90m, 24h, 7d`);
  return Number(number) * unitMs[unit];
};

/** The text of --help. */
export const helpText = (): string =>
  [
    "Usage: cloudwire-conformance <command> [options] [-- provider command …]",
    "",
    "Proves that a provider keeps the contract cloudprovider.v1, without Kubernetes and without a cloud.",
    "",
    ...Object.entries(commands).map(([name, help]) => `  ${name.padEnd(12)}${help}`),
    "",
    ...Object.entries(options).map(([name, option]) => {
      const value = "value" in option ? ` <${option.value}>` : "";
      return `  ${`--${name}${value}`.padEnd(31)}${option.help}`;
    }),
    "",
    "Exit codes: 0 all passed, 1 checks failed, 2 a mistake in the command line or configuration, 3 the provider was never ready, 4 resources are left in the cloud, 5 the kit broke.",
    "",
  ].join("\n");
