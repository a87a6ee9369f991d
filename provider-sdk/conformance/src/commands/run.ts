import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Fixtures } from "../suite/fixtures.ts";
import { UsageError } from "../errors.ts";
import { LedgerFile, readLedger } from "../suite/created-resources-file.ts";
import { grpcurlLine } from "../endpoint/exchange.ts";
import { type FormatName, formats } from "../report/formats.ts";
import { withoutIds } from "../report/redact.ts";
import { hasFailed, type Report } from "../report/report.ts";
import { runConformance, type RunOptions } from "../suite/run-conformance.ts";
import type { Arguments } from "../cli/arguments.ts";
import { leftLines } from "./cleanup.ts";
import { readConfig } from "../cli/config.ts";
import { planOrConsent } from "./consent.ts";
import { exitCodes, type ProgramDeps } from "../cli/program-deps.ts";
import { progress } from "../cli/progress.ts";
import type { Target } from "../cli/target.ts";

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
  const ledger = ledgerFor(args, options);
  const show = progress(deps);
  deps.lastWords?.(() => (ledger.isOpen ? leftLines(["what is in the list of the run"], ledger.path) : ""));
  let isClean = true;
  let info: GetProviderInfoResponse | undefined;
  const report = await runConformance({
    ...options,
    onEvent: (event) => {
      if (event.kind === "planned") info = event.info;
      show(event);
    },
    onMake: ledger.add,
    onCleanUp: ({ left }) => {
      isClean = left.length === 0;
      ledger.close(isClean);
      if (!isClean) deps.err(leftLines(left, ledger.path));
    },
    ...(args.trace && {
      onHook: (check, { name, elapsedMs, output }) =>
        deps.err(`${check} hook ${name} ${elapsedMs.toFixed(0)} ms\n${indented(output)}`),
      onExchange: (check, exchange) =>
        deps.err(
          `${check} ${exchange.path} ${exchange.elapsedMs.toFixed(1)} ms ${exchange.answer}\n  ${grpcurlLine(exchange, target.parsed) ?? ""}\n`,
        ),
    }),
  });
  await told(args, report, args.includeIds || info === undefined ? report : withoutIds(report, info, fixtures), deps);
  if (!isClean) return exitCodes.notClean;
  if (report.results.some(({ verdict }) => verdict.kind === "kit-error")) return exitCodes.kitBroke;
  return hasFailed(report) ? exitCodes.failed : exitCodes.passed;
};

const indented = (text: string): string => (text.trim() === "" ? "" : `  ${text.trimEnd().replaceAll("\n", "\n  ")}\n`);

/** In the folder of the report, else where temporary files go. Throws a UsageError where the run before left something. */
const ledgerFor = ({ report }: Arguments, { runId }: RunOptions): LedgerFile => {
  if (report === undefined) return new LedgerFile(join(tmpdir(), `cloudwire-conformance-${runId}.jsonl`));
  const path = join(report, "ledger.jsonl");
  if (readLedger(path) !== undefined)
    throw new UsageError(
      `${path} tells of things that an earlier run may have left at the cloud; first: cloudwire-conformance cleanup ${path}, with that run's provider`,
    );
  return new LedgerFile(path);
};

const extensions: Readonly<Record<FormatName, string>> = {
  pretty: "txt",
  tap: "tap",
  junit: "xml",
  json: "json",
  markdown: "md",
  html: "html",
};

/** Shows the report to whoever runs the kit as it is; all that is written for others is `forOthers`. */
const told = async (
  { format = "pretty", output, report: folder }: Arguments,
  report: Report,
  forOthers: Report,
  deps: ProgramDeps,
): Promise<void> => {
  const isShown = output === undefined && format === "pretty";
  const text = formats[format](isShown ? report : forOthers, deps.terminal && output === undefined);
  if (output === undefined) deps.out(text);
  else await writeFile(output, text);
  if (folder !== undefined) await writeAll(folder, forOthers);
};

const writeAll = async (folder: string, report: Report): Promise<void> => {
  await mkdir(folder, { recursive: true });
  let name: FormatName;
  for (name in formats) await writeFile(join(folder, `conformance.${extensions[name]}`), formats[name](report, false));
};
