// First, so that the wrong Node is told so before anything else is loaded.
import "@cloudwire/node-guard";
import { readFileSync } from "node:fs";
import { ConfigReloader } from "./app/config-reloader.ts";
import { type ProcessEnd, runProcess } from "./app/process.ts";
import { EXIT, handleSignals, readVersion } from "./app/shutdown.ts";
import { UsageError } from "./util/errors.ts";
import { CONTROLLER_ALIASES } from "./api/controller-names.ts";
import { type AuditDependencies, openAuditLog } from "./provider/observers/audit.ts";
import { type RecordingDependencies, type RecordingLog, openRecording } from "./telemetry/recording-log.ts";
import { CONTROLLER_NAMES } from "./app/controllers.ts";
import { AccessError } from "./kube/connection/access.ts";
import { bashCompletion } from "./options/completion.ts";
import { helpText } from "./options/help.ts";
import { settleCallRates } from "./provider/options.ts";
import { LiveOptions } from "./options/live-options.ts";
import { parseAgain, parseCommand, type Reparsed, type Start, TABLE } from "./app/options.ts";
import type { Verbosity } from "./server/profiling.ts";
import type { AuditLog } from "./telemetry/audit-log.ts";
import { createLogger } from "./telemetry/create-logger.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { systemClock } from "./util/clock.ts";

const PROGRAM = "cloudwire-controller-manager";

const USAGE = [
  `Usage: ${PROGRAM} --provider NAME=ADDRESS [flags]`,
  "Runs the Kubernetes cloud controllers over clouds that provider sidecars serve (unix:// or tcp://).",
] as const;

/** The last lines of the audit log and of the recording get this long. */
const CLOSE_MS = 3000;

const EXIT_AFTER: Readonly<Record<ProcessEnd, number>> = { stopped: EXIT.ok, lost: EXIT.tryAgain, failed: EXIT.fault };

process.exit(await main(process.argv.slice(2)));

/** Flags in, exit code out. */
async function main(args: readonly string[]): Promise<number> {
  const known = new Set([
    ...CONTROLLER_NAMES,
    ...Object.keys(CONTROLLER_ALIASES).filter((alias) => CONTROLLER_NAMES.has(CONTROLLER_ALIASES[alias] ?? "")),
  ]);
  const sources = { args, environment: process.env, readText };
  const command = parseCommand(sources, known);
  switch (command.kind) {
    case "help":
      process.stdout.write(helpText(TABLE, USAGE));
      return EXIT.ok;
    case "version":
      process.stdout.write(`${PROGRAM} ${readVersion()}\n`);
      return EXIT.ok;
    case "completion":
      process.stdout.write(bashCompletion(PROGRAM, TABLE, { controllers: [...known] }));
      return EXIT.ok;
    case "invalid":
      for (const { where, what } of command.problems) process.stderr.write(`${PROGRAM}: ${where}: ${what}\n`);
      return EXIT.usage;
    case "run":
      return run(command, (text) => parseAgain(sources, text, known));
    default:
      return command satisfies never;
  }
}

/** `parse` makes the settings anew of another text of the file of --config. */
async function run(
  { options: initial, migration, tracing, configText, warnings }: Start,
  parse: (text: string) => Reparsed,
): Promise<number> {
  const clock = systemClock();
  const metrics = new Metrics();
  const live = new LiveOptions(TABLE, initial, settleCallRates);
  const options = live.current;
  /** Set while the process runs: stays until the setting itself changes. */
  let level: number | undefined;
  const verbosity: Verbosity = {
    get: () => level ?? options.v,
    set: (wanted) => {
      level = wanted;
    },
  };
  const log = createLogger({
    format: options.loggingFormat,
    verbosity: verbosity.get,
    destination: process.stderr,
    clock,
  });
  for (const { where, what } of warnings) log.warn("A setting has no effect", { setting: where, why: what });
  const reloader =
    options.config === ""
      ? undefined
      : new ConfigReloader({ path: options.config, text: configText, readText, parse, live, metrics, clock, log });
  reloader?.onApplied((changes) => {
    if (changes.some(({ flag }) => flag === "--v")) level = undefined;
  });
  const files = openFiles({ options, metrics, clock, log });
  if (files === undefined) return EXIT.usage;
  const { audit, recording } = files;
  try {
    const end = await runProcess({
      options,
      migration,
      traces: tracing,
      audit,
      recording,
      reloader,
      metrics,
      environment: process.env,
      version: readVersion(),
      log,
      verbosity,
      clock,
      random: Math.random,
      stop: handleSignals({ process, clock, log, reload: onHangup(reloader, audit) }),
      exit: (code) => process.exit(code),
    });
    return EXIT_AFTER[end];
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof AccessError)) throw error;
    process.stderr.write(`${PROGRAM}: ${error.message}\n`);
    return EXIT.tryAgain;
  } finally {
    await Promise.all([audit?.close(CLOSE_MS), recording?.close(CLOSE_MS)]);
  }
}

/** What is written beside the log. undefined: something of it cannot be, and it has been said what. */
function openFiles(
  dependencies: AuditDependencies & Omit<RecordingDependencies, "program">,
): { readonly audit: AuditLog | undefined; readonly recording: RecordingLog | undefined } | undefined {
  const audit = openAuditLog(dependencies);
  const recording = openRecording({ ...dependencies, program: `${PROGRAM} ${readVersion()}` });
  const problems = [audit, recording].flatMap((opening) => (opening.kind === "failed" ? [opening.problem] : []));
  for (const problem of problems) process.stderr.write(`${PROGRAM}: ${problem}\n`);
  if (audit.kind === "failed" || recording.kind === "failed") return undefined;
  return { audit: audit.audit, recording: recording.recording };
}

/** undefined: there is nothing to read or to open again. */
function onHangup(reloader: ConfigReloader | undefined, audit: AuditLog | undefined): (() => void) | undefined {
  if (reloader === undefined && audit === undefined) return undefined;
  return () => {
    reloader?.reload();
    audit?.reopen();
  };
}

function readText(path: string): string {
  return readFileSync(path, "utf8");
}
