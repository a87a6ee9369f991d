import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../check/usage-error.ts";
import { LedgerFile, readLedger } from "../commands/ledger-file.ts";
import { grpcurlLine } from "../contract/exchange.ts";
import { type FormatName, formats } from "../report/formats.ts";
import { coloured, plain, verdictLine } from "../report/pretty.ts";
import type { Report } from "../report/report.ts";
import { type RunEvent, runConformance } from "../run-conformance.ts";
import type { Arguments } from "./arguments.ts";
import { readConfig } from "./config.ts";
import { exitCodes, type ProgramDeps } from "./program-deps.ts";
import type { Target } from "./target.ts";

/** The checks on one provider, the report where it is wanted, and the exit code. */
export const run = async (
  { tls: _given, ...args }: Arguments,
  { endpoint, tls, parsed, gone, pid }: Target,
  deps: ProgramDeps,
): Promise<number> => {
  const ledger = ledgerFor(args);
  let isClean = true;
  const report = await runConformance({
    ...args,
    endpoint,
    ...(tls !== undefined && { tls }),
    ...(pid !== undefined && { providerPid: pid }),
    fixtures: await readConfig(args.config),
    ...(args.provider.length > 0 && { providerCommand: args.provider }),
    signal: deps.signal,
    ...(gone !== undefined && { gone }),
    onEvent: progress(deps),
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
          `${check} ${exchange.path} ${exchange.elapsedMs.toFixed(1)} ms ${exchange.answer}\n  ${grpcurlLine(exchange, parsed) ?? ""}\n`,
        ),
    }),
  });
  const text = formats[args.format ?? "pretty"](report, deps.terminal && args.output === undefined);
  if (args.output === undefined) deps.out(text);
  else await writeFile(args.output, text);
  if (args.report !== undefined) await writeAll(args.report, report);
  if (!isClean) return exitCodes.notClean;
  if (report.results.some(({ verdict }) => verdict.kind === "kit-error")) return exitCodes.kitBroke;
  return report.results.some(({ verdict }) => verdict.kind === "fail" || verdict.kind === "blocked")
    ? exitCodes.failed
    : exitCodes.passed;
};

const indented = (text: string): string => (text.trim() === "" ? "" : `  ${text.trimEnd().replaceAll("\n", "\n  ")}\n`);

/** In the folder of the report, else where temporary files go. Throws a UsageError where the run before left something. */
const ledgerFor = ({ report }: Arguments): LedgerFile => {
  if (report === undefined) return new LedgerFile(join(tmpdir(), `cloudwire-conformance-${randomUUID()}.jsonl`));
  const path = join(report, "ledger.jsonl");
  if (readLedger(path) !== undefined)
    throw new UsageError(
      `${path} tells of things that an earlier run may have left at the cloud; first: cloudwire-conformance cleanup ${path}, with that run's provider`,
    );
  return new LedgerFile(path);
};

/** What is still at the cloud, and what to do about it. */
export const leftLines = (left: readonly string[], path: string): string =>
  `still at the cloud:\n${left.map((line) => `  ${line}\n`).join("")}to try again: cloudwire-conformance cleanup ${path}, with the same provider\n`;

const extensions: Readonly<Record<FormatName, string>> = {
  pretty: "txt",
  tap: "tap",
  junit: "xml",
  json: "json",
  markdown: "md",
  html: "html",
};

const writeAll = async (folder: string, report: Report): Promise<void> => {
  await mkdir(folder, { recursive: true });
  let name: FormatName;
  for (name in formats) await writeFile(join(folder, `conformance.${extensions[name]}`), formats[name](report, false));
};

/** One line on a terminal that says what runs; nothing elsewhere. */
const progress = (deps: ProgramDeps): ((event: RunEvent) => void) => {
  if (!deps.terminal) return () => undefined;
  let [done, total] = [0, 0];
  return (event) => {
    switch (event.kind) {
      case "planned":
        total = event.planned.filter(({ skip }) => skip === undefined).length;
        return;
      case "started":
        deps.err(`\r\u001b[K${done}/${total} ${event.check.id}`);
        return;
      case "finished":
        done++;
        if (event.result.verdict.kind === "fail")
          deps.err(`\r\u001b[K${verdictLine(event.result, deps.terminal ? coloured : plain)}\n`);
        if (done >= total) deps.err("\r\u001b[K");
        return;
    }
    event satisfies never;
  };
};
