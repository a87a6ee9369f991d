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
    help: "YAML file of kind CloudControllerManagerConfiguration; what the command line or the environment says takes precedence",
  }),
} as const;

const controllersFlags = {
  controllers: listFlag({
    path: "Generic.Controllers",
    group: "controllers",
    valueName: "name,-name,*",
    defaultValue: ["*"],
    help: "controllers to run: a name turns one on, -name turns it off, * means all that are on by default",
    differs: "there are further controllers, and node-ipam-controller has to be named",
  }),
} as const;

/**
 * Every setting of the daemon. The flag's name is the key in kebab case. Names, meanings and defaults are those of upstream's
 * options/options.go and k8s.io/controller-manager/options v0.36.3, unless the row says in `differs` why not.
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

/** The settings of one run. Durations are in milliseconds. */
export type Options = OptionsOf<typeof flags>;

export const TABLE = flagTable(flags);

/** What the command line asks for; completion is that of bash. */
export type Command =
  | ({ readonly kind: "run" } & Start)
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "completion" }
  | Invalid;

/** Options that may take the place of those in force. */
export type Reparsed = { readonly kind: "options"; readonly options: Options } | Invalid;

/** What a run starts with. What is from files that settings name, and from other programs' variables, cannot be reloaded. */
export interface Start extends Omit<Settings<Options>, "problemsWith"> {
  /** Controllers that move between programs; undefined: none does. */
  readonly migration: LeaderMigration | undefined;
  /** undefined: there are to be no traces. */
  readonly tracing: TracingSettings | undefined;
}

/** Every problem is found and reported together, those of files that settings name among them. */
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

/** The options once more, by another text of the file of --config. Nothing else is read: what other files say is of the start. */
export function parseAgain(
  { args, environment }: Pick<Sources, "args" | "environment">,
  configText: string,
  knownControllers: ReadonlySet<string>,
): Reparsed {
  const { options, problemsWith } = readSettings(TABLE, { args, environment, readText: () => configText });
  const problems = problemsWith(validate(options, knownControllers));
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "options", options };
}

/** What no single flag can see: settings that do not fit each other, or are missing. */
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
  return [{ where: "--provider", what: "no provider is given; add --provider NAME=unix:///path/to/provider.sock" }];
}

/** Names that other flags give to providers. */
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
      what: `"${name}" is no provider; --provider names ${[...known].join(", ")}`,
    }));
}

function unknownControllers(names: readonly string[], known: ReadonlySet<string>): readonly Problem[] {
  return names
    .map((name) => name.replace(/^-/, ""))
    .filter((name) => name !== "*" && !known.has(name))
    .map((name) => ({
      where: "--controllers",
      what: `"${name}" is not a controller; there are ${[...known].join(", ")}`,
    }));
}

/** A setting, as those need to know it who write configurations. */
export interface Setting {
  /** In the configuration file: `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  /** Without dashes: `leader-elect-lease-duration`. */
  readonly flag: string;
  /** A change of the file takes effect without a restart. */
  readonly isReloadable: boolean;
}

/** Every setting of the configuration file, in the order of `--help`. */
export const SETTINGS: readonly Setting[] = [...TABLE.byPath].map(([path, { name, flag }]) => ({
  path,
  flag: name,
  isReloadable: flag.reloadable === true,
}));
