import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Arguments } from "../cli/arguments.ts";
import { readConfig } from "../cli/config.ts";
import { type ProgramDeps, exitCodes } from "../cli/program-deps.ts";
import { progress } from "../cli/progress.ts";
import type { Target } from "../cli/target.ts";
import { grpcurlLine } from "../endpoint/exchange.ts";
import { UsageError } from "../errors.ts";
import { made } from "../gen/made.ts";
import { type FormatName, formats } from "../report/formats.ts";
import { withoutIds } from "../report/redact.ts";
import { type Report, hasFailed } from "../report/report.ts";
import { levels } from "../suite/check.ts";
import { CreatedResourcesFile, readCreatedResources } from "../suite/created-resources-file.ts";
import type { Fixtures } from "../suite/fixtures.ts";
import { needsConsent, type PlanSummary, summarize } from "../suite/plan-summary.ts";
import { type RunOptions, planConformance, runConformance } from "../suite/run-conformance.ts";
import { leftLines } from "./cleanup.ts";

/** What the command line asks for, on one provider. */
export const optionsOf = (
  { tls: _given, ...args }: Arguments,
  { endpoint, tls, gone, pid }: Target,
  fixtures: Fixtures,
  { signal }: ProgramDeps,
): RunOptions => ({
  ...args,
  runId: randomUUID(),
  endpoint,
  ...(tls !== undefined && { tls }),
  ...(pid !== undefined && { providerPid: pid }),
  fixtures,
  ...(args.provider.length > 0 && { providerCommand: args.provider }),
  signal,
  ...(gone !== undefined && { gone }),
});

/** The checks on one provider, the report where it is wanted, and the exit code. */
export const run = async (args: Arguments, target: Target, deps: ProgramDeps): Promise<number> => {
  const fixtures = await readConfig(args.config);
  const options = optionsOf(args, target, fixtures, deps);
  const ended = await planOrConsent(args, options, fixtures, deps);
  if (ended !== undefined) return ended;
  const resources = resourcesFileFor(args, options);
  const show = progress(deps);
  deps.lastWords?.(() => (resources.isOpen ? leftLines(["what is in the list of the run"], resources.path) : ""));
  let isClean = true;
  let info: GetProviderInfoResponse | undefined;
  const report = await runConformance({
    ...options,
    onEvent: (event) => {
      if (event.kind === "planned") info = event.info;
      show(event);
    },
    onMake: resources.add,
    onCleanUp: ({ left }) => {
      isClean = left.length === 0;
      resources.close(isClean);
      if (!isClean) deps.err(leftLines(left, resources.path));
    },
    ...(args.trace && {
      onHook: (check, { name, elapsedMs, output }) =>
        deps.err(`${check} hook ${name} ${elapsedMs.toFixed(0)} ms\n${indented(output)}`),
      onExchange: (check, exchange) =>
        deps.err(
          `${check} ${exchange.path} ${exchange.elapsedMs.toFixed(1)} ms ${exchange.response}\n  ${grpcurlLine(exchange, target.parsed) ?? ""}\n`,
        ),
    }),
  });
  await reported(
    args,
    report,
    args.includeIds || info === undefined ? report : withoutIds(report, info, fixtures),
    deps,
  );
  if (!isClean) return exitCodes.notClean;
  if (report.results.some(({ result }) => result.kind === "error")) return exitCodes.kitBroke;
  return hasFailed(report) ? exitCodes.failed : exitCodes.passed;
};

const indented = (text: string): string => (text.trim() === "" ? "" : `  ${text.trimEnd().replaceAll("\n", "\n  ")}\n`);

/** In the directory of the report, else where temporary files go. Throws a UsageError where the run before left something. */
const resourcesFileFor = ({ report }: Arguments, { runId }: RunOptions): CreatedResourcesFile => {
  if (report === undefined) return new CreatedResourcesFile(join(tmpdir(), `cloudwire-conformance-${runId}.jsonl`));
  const path = join(report, "resources.jsonl");
  if (readCreatedResources(path) !== undefined)
    throw new UsageError(
      `${path} lists resources that an earlier run may have left in the cloud; first: cloudwire-conformance cleanup ${path}, with that run's provider`,
    );
  return new CreatedResourcesFile(path);
};

const extensions: Readonly<Record<FormatName, string>> = {
  pretty: "txt",
  tap: "tap",
  junit: "xml",
  json: "json",
  markdown: "md",
  html: "html",
};

/** Prints the report unchanged to the user of the kit; everything that is written to files is `forOthers`. */
const reported = async (
  { format = "pretty", output, report: directory }: Arguments,
  report: Report,
  forOthers: Report,
  deps: ProgramDeps,
): Promise<void> => {
  const isShown = output === undefined && format === "pretty";
  const text = formats[format](isShown ? report : forOthers, deps.terminal && output === undefined);
  if (output === undefined) deps.out(text);
  else await writeFile(output, text);
  if (directory !== undefined) await writeAll(directory, forOthers);
};

const writeAll = async (directory: string, report: Report): Promise<void> => {
  await mkdir(directory, { recursive: true });
  let name: FormatName;
  for (name in formats)
    await writeFile(join(directory, `conformance.${extensions[name]}`), formats[name](report, false));
};

/** Prints what a run would do if requested, or if the user has to confirm first. Returns the exit code that ends it; undefined: it goes on. */
const planOrConsent = async (
  { plan, yes, level }: Pick<Arguments, "plan" | "yes" | "level">,
  options: RunOptions,
  fixtures: Fixtures,
  deps: ProgramDeps,
): Promise<number | undefined> => {
  const mayMake = levels.indexOf(level) >= levels.indexOf("M");
  if (!plan && (yes || !mayMake)) return undefined;
  const { info, planned } = await planConformance(options);
  const summary = summarize(planned, made);
  if (plan) {
    deps.out(planText(info, summary, fixtures));
    return exitCodes.passed;
  }
  if (!needsConsent(summary, fixtures.testCloud)) return undefined;
  deps.err(
    `${planText(info, summary, fixtures)}cloudwire-conformance: nothing was done yet; pass --yes to run it. Declare a test cloud on loopback with testCloud in --config; it needs no --yes\n`,
  );
  return exitCodes.usage;
};

/** What a run would do, for the user who has to confirm it. */
const planText = (
  { name, version }: GetProviderInfoResponse,
  { all, runs, makes, unknown, starts, hooks }: PlanSummary,
  { limits = {}, testCloud }: Fixtures,
): string => {
  const { loadBalancers, routes, atOnce } = makes;
  const more = unknown.length === 0 ? "" : `; what ${some(unknown)} make was never counted`;
  const lines: readonly (readonly [string, string])[] = [
    ["provider", `${name} ${version}`],
    ["runs", `${runs.length} of ${all} checks`],
    [
      "makes",
      loadBalancers + routes + unknown.length === 0
        ? "nothing in the cloud"
        : `${counted(loadBalancers, "load balancer")} and ${counted(routes, "route")} in the cloud, ${atOnce} at once, and removes them${more}`,
    ],
    [
      "limit",
      limits.maxResources === undefined ? "none; limits.maxResources sets one" : `${limits.maxResources} at once`,
    ],
    ["cost", limits.maxCostNote ?? "unknown; set limits.maxCostNote"],
    ["cloud", testCloud === undefined ? "may be a real one" : `for tests, at ${testCloud}`],
    ["starts", starts.length === 0 ? "no provider" : `providers of its own, for ${counted(starts.length, "check")}`],
    ["hooks", hooks.join(", ") || "none"],
  ];
  return lines.map(([what, text]) => `${what.padEnd(10)}${text}\n`).join("");
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const some = (ids: readonly string[]): string =>
  ids.length > 3 ? `${ids.slice(0, 3).join(", ")} and ${ids.length - 3} more` : ids.join(", ");
