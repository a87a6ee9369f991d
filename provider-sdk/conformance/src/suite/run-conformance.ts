import { randomUUID } from "node:crypto";
import { type Check, type CheckContext, type Level, levels, type ProfileName } from "./check.ts";
import { type Fixtures, noFixtures } from "./fixtures.ts";
import type { HookName } from "./hooks.ts";
import { allChecks } from "../checks/registry.ts";
import { claimedCapabilities } from "../contract/capabilities.ts";
import { hasHook, type HookRecord } from "./hook-session.ts";
import { type Exchange, grpcurlLine } from "../endpoint/exchange.ts";
import type { CreatedResource, MadeBy } from "./created-resources.ts";
import { kitVersion } from "../kit-version.ts";
import { type CheckResult, profileResults, type Report } from "../report/report.ts";
import { type CleanedUp, RunSession } from "./session.ts";
import { type PlannedCheck, parsePattern, plan, shuffled } from "./plan.ts";
import { Runner } from "./runner.ts";
import { client, reach } from "../endpoint/reach.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "../endpoint/endpoint.ts";
import type { TlsFiles } from "../endpoint/tls.ts";

/** What to run, and on what. */
export interface RunOptions {
  /** `unix:///absolute/path.sock`, `tcp://host:port` or `dns:///host:port`. */
  readonly endpoint: string;
  /** Files of TLS. Default: over TCP, plaintext. */
  readonly tls?: TlsFiles;
  readonly fixtures?: Fixtures;
  /** Default: all that the provider claims. */
  readonly profiles?: readonly ProfileName[];
  /** Highest level that runs. Default: R, which changes nothing in the cloud. */
  readonly level?: Level;
  /** Patterns of check ids. Default: all. */
  readonly run?: readonly string[];
  readonly skip?: readonly string[];
  /** Checks that must fail: one that passes is a failure. */
  readonly knownFailing?: readonly string[];
  /** Checks that are tried three times. */
  readonly knownFlaky?: readonly string[];
  /** A UUID; what the run makes is tagged with it. Default: random. */
  readonly runId?: string;
  /** Decides the order of the checks and what they make up. Default: 1. */
  readonly seed?: number;
  /** Checks at once. Default: 4. */
  readonly parallel?: number;
  /** Thresholds and patience are multiplied by it. Default: 1. */
  readonly slowFactor?: number;
  /** The time that a check as a whole has, and each of its calls, is multiplied by it, and nothing else: for many runs at once on one machine. Default: 1. */
  readonly timeFactor?: number;
  /** Checks of things that take minutes wait for them, instead of looking at their beginning. Default: false. */
  readonly long?: boolean;
  /** How long the provider may take to be ready. Default: 10 s. */
  readonly startTimeoutMs?: number;
  /** With which the caller started the provider: for the report, and for checks that start it once more. */
  readonly providerCommand?: readonly string[];
  /** Its process: on Linux the kit looks at memory and files itself. */
  readonly providerPid?: number;
  /** Aborted: the checks end, what they made is removed, and the report says of the others that they were left out. */
  readonly signal?: AbortSignal;
  /** Aborted when the provider has ended: a start is waited for no longer. */
  readonly gone?: AbortSignal;
  /** Called with progress events. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Called for every call of every check. */
  readonly onExchange?: (check: string, exchange: Exchange) => void;
  /** Called for each check that looks at the outcome of another's calls, beside its own. */
  readonly onBorrow?: (check: string, from: string) => void;
  /** Called for each action of the vendor's, with its output. */
  readonly onHook?: (check: string, record: HookRecord) => void;
  /** Called for everything that a check may create in the cloud, before the call that creates it. */
  readonly onMake?: (entry: CreatedResource, by: MadeBy) => void;
  /** How long what was made may take to be gone, after the last check or when the run is ended early. Default: 5 min. */
  readonly cleanUpTimeoutMs?: number;
  /** Called with what is left then. */
  readonly onCleanUp?: (outcome: CleanedUp) => void;
}

/** What happens during a run. */
export type RunEvent =
  | ({ readonly kind: "planned" } & RunPlan)
  | { readonly kind: "started"; readonly check: Check }
  | { readonly kind: "finished"; readonly result: CheckResult };

/** What a run with these options would do. */
export interface RunPlan {
  readonly info: CheckContext["info"];
  /** Every check of the profiles asked for, with the reason if it would not run. */
  readonly planned: readonly PlannedCheck[];
}

/** Asks the provider what it claims, and nothing more. Rejects as `runConformance` does. */
export const planConformance = async (options: RunOptions): Promise<RunPlan> => {
  const { fixtures = noFixtures, level = "R", slowFactor = 1, providerPid } = options;
  const endpoint = parseEndpoint(options.endpoint, options.tls);
  const selection = {
    level,
    profiles: options.profiles ?? [],
    run: patterns(options.run),
    skip: patterns(options.skip),
  };
  const ending = [options.signal, options.gone].filter((signal) => signal !== undefined);
  const info = await reach(endpoint, (options.startTimeoutMs ?? 10_000) * slowFactor, AbortSignal.any(ending));
  const facts = {
    capabilities: info.capabilities,
    transport: transportOf(endpoint),
    fixtures,
    canStart: options.providerCommand !== undefined,
    hasHook: (name: HookName) => hasHook(fixtures.hooks ?? {}, providerPid, name),
  };
  return { info, planned: plan(allChecks, selection, facts) };
};

/**
 * Runs the checks against a provider and answers the report. Rejects with a NotReadyError when no provider answers, and with a UsageError for mistakes
 * in the options.
 */
export const runConformance = async (options: RunOptions): Promise<Report> => {
  const startTime = new Date();
  const startedMs = performance.now();
  const endpoint = parseEndpoint(options.endpoint, options.tls);
  const { fixtures = noFixtures, level = "R", seed = 1, slowFactor = 1 } = options;
  const { providerCommand: command, runId = randomUUID() } = options;
  const known = knownOf(options);
  const { info, planned } = await planConformance(options);
  options.onEvent?.({ kind: "planned", info, planned });
  const session = newSession({ ...options, runId }, endpoint, info);
  const runner = new Runner({
    ...known,
    openContext: (check, checkSignal) => session.openContext(check, checkSignal),
    lost: () => session.lost(),
    stuck: () => session.stuck,
    repeatLine: ({ exchange }) => (exchange === undefined ? undefined : grpcurlLine(exchange, endpoint)),
    started: (check) => options.onEvent?.({ kind: "started", check }),
    finished: (result) => options.onEvent?.({ kind: "finished", result }),
    parallel: options.parallel ?? 4,
    fixtures,
    slowFactor: slowFactor * (options.timeFactor ?? 1),
    signal: options.signal ?? new AbortController().signal,
  });
  try {
    const results = inReportOrder(await runner.run(inRunOrder(planned, seed)));
    return {
      schemaVersion: 2,
      kit: { version: kitVersion, contractMajor: client.contractMajor },
      runId,
      startTime: startTime.toISOString(),
      elapsedMs: performance.now() - startedMs,
      target: { endpoint: formatEndpoint(endpoint), ...(command !== undefined && { command }) },
      provider: describe(info),
      level,
      seed,
      slowFactor,
      profiles: profileResults(results),
      results,
    };
  } finally {
    const cleanedUp = await session.cleanUp((options.cleanUpTimeoutMs ?? 300_000) * slowFactor);
    options.onCleanUp?.(cleanedUp);
    session.close();
  }
};

const newSession = (
  options: RunOptions & { readonly runId: string },
  endpoint: Endpoint,
  info: CheckContext["info"],
): RunSession => {
  const { fixtures = noFixtures, seed = 1, slowFactor = 1, long = false, providerCommand: command, gone } = options;
  const { onBorrow, onExchange, onMake, onHook, providerPid, runId, timeFactor } = options;
  const given = { fixtures, seed, slowFactor, timeFactor, long, command, gone, onBorrow, onExchange, onMake, onHook };
  return new RunSession({ endpoint, providerPid, runId, ...given }, info);
};

const knownOf = (options: RunOptions) => ({
  knownFailing: patterns(options.knownFailing),
  knownFlaky: patterns(options.knownFlaky),
});

const transportOf = (endpoint: Endpoint): "unix" | "tcp" | "tls" =>
  endpoint.kind === "tcp" && endpoint.tls !== undefined ? "tls" : endpoint.kind;

/** Throws a UsageError for patterns that match nothing. */
const patterns = (texts: readonly string[] = []) => texts.map((text) => parsePattern(text, ids));

const ids = allChecks.map(({ id }) => id);
const places = new Map(ids.map((id, index) => [id, index]));

const describe = (info: CheckContext["info"]): Report["provider"] => ({
  name: info.name,
  version: info.version,
  contractMajor: info.contractMajor,
  contractMinor: info.contractMinor,
  bootId: info.bootId,
  capabilities: claimedCapabilities(info.capabilities),
  build: info.build,
});

const inReportOrder = (results: readonly CheckResult[]): readonly CheckResult[] =>
  results.toSorted((one, other) => (places.get(one.id) ?? 0) - (places.get(other.id) ?? 0));

/** Cheap levels first; within a level the seed decides. */
const inRunOrder = (planned: readonly PlannedCheck[], seed: number): readonly PlannedCheck[] =>
  shuffled(planned, seed).toSorted((one, other) => levels.indexOf(one.check.level) - levels.indexOf(other.check.level));
