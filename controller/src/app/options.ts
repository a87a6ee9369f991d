import { nodeIpamFlags, nodeIpamProblems } from "../controllers/node-ipam/options.ts";
import { nodeLifecycleFlags } from "../controllers/node-lifecycle/options.ts";
import { nodeFlags } from "../controllers/node/options.ts";
import { routeFlags } from "../controllers/route/options.ts";
import { serviceFlags } from "../controllers/service/options.ts";
import { clusterFlags, clusterProblems, kubeFlags, kubeProblems } from "../kube/options.ts";
import { type LeaderMigration, readMigration } from "../leadership/migration.ts";
import { leadershipFlags, leadershipProblems } from "../leadership/options.ts";
import { modeFlags, modeProblems } from "../observe/mode.ts";
import { COMPLETION, readCompletion } from "../options/completion.ts";
import { listFlag, type Problem, stringFlag } from "../options/flag.ts";
import { type Invalid, readSettings, type Settings, type Sources } from "../options/parse.ts";
import { CONFIG, flagTable, isAsked, type OptionsOf } from "../options/table.ts";
import { providerFlags, providerTlsFileProblems, providerTlsProblems } from "../provider/options.ts";
import { healthBindAddressProblems, servingFlags, servingProblems, statusPageProblems } from "../server/options.ts";
import { webhookFlags, webhookProblems } from "../server/webhooks/options.ts";
import { auditFlags, logFlags, recordingFlags } from "../telemetry/options.ts";
import { readTracing, tracingFlags, type TracingSettings } from "../telemetry/tracing-options.ts";

const configFlags = {
  [CONFIG]: stringFlag({
    group: "configuration",
    valueName: "file",
    help: "YAML file of kind CloudControllerManagerConfiguration; command line and environment take precedence",
  }),
} as const;

const controllersFlags = {
  controllers: listFlag({
    path: "Generic.Controllers",
    group: "controllers",
    valueName: "name,-name,*",
    defaultValue: ["*"],
    help: "controllers to run: name enables one, -name disables it, * means all that are enabled by default",
    differs: "there are more controllers, and node-ipam-controller must be named",
  }),
} as const;

/**
 * All flags; a flag's name is its key in kebab case. Names, meanings and defaults are those of cloud-provider/options/options.go and
 * k8s.io/controller-manager/options v0.36.3, unless `differs` says why not.
 */
const flags = {
  ...configFlags,
  ...modeFlags,
  ...providerFlags,
  ...kubeFlags,
  ...controllersFlags,
  ...clusterFlags,
  ...nodeIpamFlags,
  ...routeFlags,
  ...nodeFlags,
  ...serviceFlags,
  ...nodeLifecycleFlags,
  ...leadershipFlags,
  ...servingFlags,
  ...webhookFlags,
  ...logFlags,
  ...auditFlags,
  ...recordingFlags,
  ...tracingFlags,
} as const;

/** Durations are in milliseconds. */
export type Options = OptionsOf<typeof flags>;

export const TABLE = flagTable(flags);

export type Command =
  | ({ readonly kind: "run" } & Start)
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "completion" }
  | Invalid;

export type Reparsed = { readonly kind: "options"; readonly options: Options } | Invalid;

/** The settings of a run. Leader migration and tracing come from other files and variables and cannot be reloaded. */
export interface Start extends Omit<Settings<Options>, "problemsWith"> {
  /** undefined: no leader migration. */
  readonly migration: LeaderMigration | undefined;
  /** undefined: tracing is off. */
  readonly tracing: TracingSettings | undefined;
}

/** Reports all problems together, including those of other files that settings name. */
export function parseCommand(sources: Sources, knownControllers: ReadonlySet<string>): Command {
  const { args, environment, readText } = sources;
  if (isAsked("help", args)) return { kind: "help" };
  if (isAsked("version", args)) return { kind: "version" };
  if (args[0] === COMPLETION) return readCompletion(args.slice(1));
  const { problemsWith, ...settings } = readSettings(TABLE, sources);
  const { options } = settings;
  const migration = readMigration(options, readText);
  const tracing = readTracing(options, environment, readText);
  const problems = problemsWith([
    ...validate(options, knownControllers),
    ...providerTlsFileProblems(options, readText),
    ...migration.problems,
    ...tracing.problems,
  ]);
  if (problems.length > 0) return { kind: "invalid", problems };
  return { kind: "run", ...settings, migration: migration.value, tracing: tracing.value };
}

/** Parses again with another text of --config. Reads no other file. */
export function parseAgain(
  { args, environment }: Pick<Sources, "args" | "environment">,
  configText: string,
  knownControllers: ReadonlySet<string>,
): Reparsed {
  const { options, problemsWith } = readSettings(TABLE, { args, environment, readText: () => configText });
  const problems = problemsWith(validate(options, knownControllers));
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "options", options };
}

/** Rules across flags. */
function validate(options: Options, knownControllers: ReadonlySet<string>): readonly Problem[] {
  return [
    ...missingProvider(options),
    ...unknownProviders(options),
    ...providerTlsProblems(options),
    ...kubeProblems(options),
    ...leadershipProblems(options),
    ...clusterProblems(options),
    ...nodeIpamProblems(options),
    ...unknownControllers(options.controllers, knownControllers),
    ...modeProblems(options, knownControllers),
    ...servingProblems(options),
    ...statusPageProblems(options),
    ...webhookProblems(options),
    ...healthBindAddressProblems(options),
  ];
}

function missingProvider({ provider }: Options): readonly Problem[] {
  if (provider.length > 0) return [];
  return [{ where: "--provider", what: "no provider; add --provider NAME=unix:///path/to/provider.sock" }];
}

function unknownProviders({
  provider,
  providerNodeSelector,
  providerCallRate,
  providerMode,
  defaultLoadBalancerProvider,
}: Options): readonly Problem[] {
  const known = new Set(provider.map(({ name }) => name));
  if (known.size === 0) return [];
  const named = [
    ...[...providerNodeSelector.keys()].map((name) => ({ where: "--provider-node-selector", name })),
    ...[...providerMode.keys()].map((name) => ({ where: "--provider-mode", name })),
    ...providerCallRate.map(({ provider: name }) => ({ where: "--provider-call-rate", name })),
    ...(defaultLoadBalancerProvider === ""
      ? []
      : [{ where: "--default-load-balancer-provider", name: defaultLoadBalancerProvider }]),
  ];
  return named
    .filter(({ name }) => !known.has(name))
    .map(({ where, name }) => ({
      where,
      what: `unknown provider "${name}"; --provider names ${[...known].join(", ")}`,
    }));
}

function unknownControllers(names: readonly string[], known: ReadonlySet<string>): readonly Problem[] {
  return names
    .map((name) => name.replace(/^-/, ""))
    .filter((name) => name !== "*" && !known.has(name))
    .map((name) => ({
      where: "--controllers",
      what: `unknown controller "${name}"; available: ${[...known].join(", ")}`,
    }));
}

export interface Setting {
  /** In the configuration file: `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  /** Without dashes: `leader-elect-lease-duration`. */
  readonly flag: string;
  /** A change in the file takes effect without a restart. */
  readonly isReloadable: boolean;
}

/** Every setting of the configuration file, in the order of `--help`; a previous path is before the path that takes precedence. */
export const SETTINGS: readonly Setting[] = [...TABLE.byPath].flatMap(([path, { name, flag }]) => {
  const setting = { path, flag: name, isReloadable: flag.reloadable === true };
  return flag.previousPath === undefined ? [setting] : [{ ...setting, path: flag.previousPath }, setting];
});
