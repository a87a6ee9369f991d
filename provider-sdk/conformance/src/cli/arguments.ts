import { parseArgs } from "node:util";
import { UsageError, errorText } from "../errors.ts";
import { type Level, levels, type ProfileName, profiles } from "../suite/check.ts";
import { type FormatName, formats } from "../report/formats.ts";
import { type Transport, transports } from "../endpoint/place.ts";
import type { TlsFiles } from "../endpoint/tls.ts";

/** The program's commands. */
export const commands = {
  run: "run the checks against --endpoint, or against a provider that the kit starts and stops",
  list: "list all checks, or those of --profile and --run; with --why, also whether and why each is skipped",
  explain: "explain a check: its purpose, rules and common causes of failure: explain err.field.path",
  inspect: "print the handshake of a provider, and the profiles that a run tests",
  selftest: "test the kit: each check must detect its faults, injected into the kit's own provider or into yours",
  "serve-fake": "serve the kit's own provider, to try the kit and to test clients of the contract",
  cleanup: "delete the resources of killed runs: cleanup report/resources.jsonl, or --run-id, or --all-older-than 24h",
  report:
    "check, merge or convert reports: report verify a.json; report merge a.json b.json; report badge a.json --output b.svg",
  init: "print a configuration template for the capabilities of the provider",
} as const;

/** The options of all commands, for the parser and for --help. */
const options = {
  endpoint: {
    type: "string",
    value: "endpoint",
    help: "Address of a running provider: unix:///path.sock, tcp://host:port or dns:///host:port.",
  },
  "tls-ca": {
    type: "string",
    value: "file",
    help: "CA certificates for the provider's certificate, PEM; enables TLS over TCP.",
  },
  "tls-cert": { type: "string", value: "file", help: "Client certificate that the provider accepts, PEM." },
  "tls-key": { type: "string", value: "file", help: "Key of the client certificate, PEM." },
  "tls-server-name": {
    type: "string",
    value: "name",
    help: "Expected name in the provider's certificate. Default: the host.",
  },
  transport: {
    type: "string",
    value: "name",
    help: "Transport for a provider that the kit starts: unix, or tls with generated certificates. Default unix.",
  },
  profile: {
    type: "string",
    multiple: true,
    value: "name",
    help: `Profiles to test: ${Object.keys(profiles).join(", ")}. Default: those that the provider claims.`,
  },
  level: {
    type: "string",
    value: "letter",
    help: "Highest level of checks: S (no cloud), R (reads), M (changes), D (disruptions), X (scale). Default R.",
  },
  run: {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Run only these checks: err.frame.garbage, err.*, val.**, or @file with one per line.",
  },
  skip: {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Skip these checks. @file as with --run.",
  },
  "known-failing": {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Checks that are expected to fail. A pass is reported as a failure. @file as with --run.",
  },
  "known-flaky": {
    type: "string",
    multiple: true,
    value: "pattern",
    help: "Checks that are retried up to three times. @file as with --run.",
  },
  config: {
    type: "string",
    value: "file",
    help: "Configuration file, YAML: instances, credentials and hooks of the vendor. `init` prints a template.",
  },
  format: { type: "string", value: "name", help: `${Object.keys(formats).join(", ")}. Default pretty.` },
  output: { type: "string", value: "file", help: "File for the report. Default: standard output." },
  report: { type: "string", value: "directory", help: "Also write the report to this directory, in all formats." },
  plan: { type: "boolean", help: "Print the checks and the cloud resources of the run, without running it." },
  yes: {
    type: "boolean",
    help: "Confirm that the run may create the resources of --plan. Required unless --config has testCloud.",
  },
  why: { type: "boolean", help: "With list: show whether each check would run, and why it is skipped." },
  "include-ids": {
    type: "boolean",
    help: "Keep the IDs of accounts and instances in written reports. Default: they are redacted.",
  },
  "run-id": {
    type: "string",
    value: "uuid",
    help: "With cleanup: delete the resources of this run, by their ownership tag.",
  },
  "all-older-than": {
    type: "string",
    value: "24h",
    help: "With cleanup: delete the resources of all runs without a change for this time. Further arguments are directories with resources.jsonl files.",
  },
  trace: { type: "boolean", help: "Write each call to standard error, if possible as a grpcurl command." },
  seed: {
    type: "string",
    value: "number",
    help: "Seed for the order of the checks. Default: random; the report has it.",
  },
  parallel: { type: "string", value: "number", help: "Number of checks in parallel. Default 4." },
  "slow-factor": {
    type: "string",
    value: "number",
    help: "Factor for timeouts and thresholds on slow machines. Default 1.",
  },
  long: {
    type: "boolean",
    help: "Use the full waiting times of the contract (minutes) in checks of heartbeats, idle connections and slow readers.",
  },
  "cleanup-timeout": {
    type: "string",
    value: "seconds",
    help: "Timeout for the deletion of created resources. Default 300.",
  },
  "start-timeout": {
    type: "string",
    value: "seconds",
    help: "Timeout for the start of the provider. Default 10.",
  },
  only: { type: "string", multiple: true, value: "fault", help: "With selftest: inject only these faults." },
  seeds: {
    type: "string",
    value: "number",
    help: "With selftest: number of runs without a fault, each with another seed. Default 1.",
  },
  thorough: {
    type: "boolean",
    help: "With selftest: run all checks for each fault, including those that cannot detect it.",
  },
  faults: {
    type: "string",
    multiple: true,
    value: "name",
    help: "With serve-fake: faults to inject, by the names of selftest.",
  },
  help: { type: "boolean", help: "Show this help." },
} as const;

/** A parsed command line. */
export interface Arguments {
  readonly command: string;
  /** Operands after the command. */
  readonly words: readonly string[];
  /** The arguments after `--`. */
  readonly provider: readonly string[];
  readonly endpoint?: string | undefined;
  /** Undefined: no TLS option is set. */
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
  /** Only print the plan. */
  readonly plan: boolean;
  /** The run may create what the plan lists. */
  readonly yes: boolean;
  readonly why: boolean;
  readonly includeIds: boolean;
  readonly runId?: string | undefined;
  readonly allOlderThanMs?: number | undefined;
  readonly trace: boolean;
  /** Faults that a selftest injects. */
  readonly only: readonly string[];
  /** Faults that the fake provider has. */
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

/** Parses a command line. Throws a UsageError if it is invalid. */
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
  if (word === undefined) throw new UsageError(`${option} must be one of ${words.join(", ")}, not ${text}`);
  return word;
};

const numberIn = (option: string, text: string, least: number, most: number): number => {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!(number >= least && number <= most))
    throw new UsageError(`${option} must be a number from ${least} to ${most}, not ${text}`);
  return number;
};

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const ageIn = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const [, number = "", unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  if (unit !== "m" && unit !== "h" && unit !== "d")
    throw new UsageError(`${option} must be a number of minutes, hours or days such as 90m, 24h or 7d, not ${text}`);
  return Number(number) * unitMs[unit];
};

/** The text of --help. */
export const helpText = (): string =>
  [
    "Usage: cloudwire-conformance <command> [options] [-- provider command …]",
    "",
    "Tests a provider against the contract cloudprovider.v1. Needs no Kubernetes; most checks need no cloud.",
    "",
    ...Object.entries(commands).map(([name, help]) => `  ${name.padEnd(12)}${help}`),
    "",
    ...Object.entries(options).map(([name, option]) => {
      const value = "value" in option ? ` <${option.value}>` : "";
      return `  ${`--${name}${value}`.padEnd(31)}${option.help}`;
    }),
    "",
    "Exit codes: 0 all checks passed, 1 checks failed, 2 invalid command line or configuration, 3 the provider did not become ready, 4 resources remain in the cloud, 5 internal error of the kit.",
    "",
  ].join("\n");
