import { rename } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { stopSignal } from "../lib/command-line.ts";
import { builtPeers } from "./peers/built-peers.ts";
import { type BenchOptions, helpText, parseBenchOptions } from "./options.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "./peers/names.ts";
import { missingRuns, planOf, withResult } from "./plan.ts";
import { publish } from "../publish/publish.ts";
import { goalsTable, tables } from "./report/report.ts";
import type { Result, Run } from "./report/results.ts";
import {
  readResultsFile,
  requireSameMachine,
  ResultsFileError,
  thisMachine,
  writeResultsFile,
} from "./report/results-file.ts";
import { measureAll } from "./measure/measure.ts";
import { SCENARIOS } from "./scenarios/scenarios.ts";

/** sysexits.h: the command was used incorrectly. */
const EXIT_USAGE = 64;
/** As a shell says of SIGINT. */
const EXIT_INTERRUPTED = 130;

const PEERS = [CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED, RAW_WRITER] as const;
const top = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const choices = {
    scenarios: SCENARIOS.map(({ name }) => name),
    peers: PEERS,
    defaultOut: top("bench/out/bench.json"),
  };
  const parsed = parseBenchOptions(args, choices);
  try {
    switch (parsed.kind) {
      case "help":
        process.stdout.write(helpText(choices));
        return 0;
      case "problems":
        return refuse(parsed.problems);
      case "publish":
        await publish(parsed.out, top("docs/explanation"));
        return 0;
      case "options":
        return await bench(parsed.options, stopSignal());
      default:
        return parsed satisfies never;
    }
  } catch (error) {
    if (!(error instanceof ResultsFileError)) throw error;
    return refuse([error.message]);
  }
}

function refuse(problems: readonly string[]): number {
  for (const problem of problems) console.error(`bench: ${problem}`);
  return EXIT_USAGE;
}

async function bench(options: BenchOptions, stop: AbortSignal): Promise<number> {
  const machine = thisMachine();
  let results = await earlierResults(options, machine);
  const runs = missingRuns(planOf(SCENARIOS, options.plan), results);
  console.log(`${machine}: ${runs.length} measurements`);
  try {
    for await (const result of measured(runs, options.patienceMs, stop)) {
      results = withResult(results, result);
      await writeResultsFile(options.out, { machine, results });
      console.log(lineOf(result));
    }
  } catch (error) {
    if (!stop.aborted) throw error;
    console.error("bench: interrupted; this is what there is, and --resume goes on");
  }
  for (const table of tables(SCENARIOS, results)) console.log(`\n${table}`);
  console.log(`\nGoals\n\n${goalsTable(SCENARIOS, results)}`);
  if (stop.aborted) return EXIT_INTERRUPTED;
  return results.some(({ kind }) => kind === "failed") ? 1 : 0;
}

async function earlierResults({ out, resume }: BenchOptions, machine: string): Promise<readonly Result[]> {
  if (!resume) {
    // Hours of work may be in it.
    await rename(out, `${out}.old`).catch(() => undefined);
    return [];
  }
  const file = await readResultsFile(out);
  if (file === undefined) return [];
  requireSameMachine(out, file, machine);
  return file.results;
}

async function* measured(runs: readonly Run[], patienceMs: number, stop: AbortSignal): AsyncGenerator<Result> {
  if (runs.length === 0) return;
  yield* measureAll(runs, { peers: await builtPeers(), patienceMs, stop });
}

function lineOf(result: Result): string {
  const sizes = Object.entries(result.sizes).map(([size, value]) => `${value} ${size}`);
  const who = `round ${result.round + 1}, ${result.scenario} (${sizes.join(", ")}), ${result.peer}`;
  if (result.kind === "failed") return `${who}: FAILED: ${result.reason}`;
  const seconds = `${result.measurements.seconds?.toFixed(1) ?? "?"} s`;
  return `${who}: ${seconds}${result.kind === "projected" ? " (projected)" : ""}`;
}
