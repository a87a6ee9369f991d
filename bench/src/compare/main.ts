import { spawnSync } from "node:child_process";
import { rename } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { buildControlPlane } from "@cloudwire/control-plane";
import { buildUpstream } from "@cloudwire/test";
import { stopSignal } from "../lib/stop-signal.ts";
import { type BenchOptions, helpText, parseBenchOptions } from "./options.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "./names.ts";
import { cloudwire, type Peer, upstreamPeers } from "./peers.ts";
import { missingRuns, planOf, withResult } from "./plan.ts";
import { publish } from "./publish.ts";
import { rawWriter } from "./raw-writer.ts";
import { goalsTable, tables } from "./report.ts";
import { type Result, type Run } from "./results.ts";
import {
  readResultsFile,
  requireSameMachine,
  ResultsFileError,
  thisMachine,
  writeResultsFile,
} from "./results-file.ts";
import { measure } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

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
    for await (const result of measureAll(runs, options.patienceMs, stop)) {
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

async function* measureAll(runs: readonly Run[], patienceMs: number, stop: AbortSignal): AsyncGenerator<Result> {
  if (runs.length === 0) return;
  const peers = await builtPeers();
  for (const run of runs) {
    const scenario = SCENARIOS.find(({ name }) => name === run.scenario);
    const peer = peers.find(({ name }) => name === run.peer);
    if (scenario === undefined || peer === undefined) throw new Error(`there is no ${run.scenario} or no ${run.peer}`);
    yield await measure(scenario, peer, run, patienceMs, stop);
  }
}

function lineOf(result: Result): string {
  const sizes = Object.entries(result.sizes).map(([size, value]) => `${value} ${size}`);
  const who = `round ${result.round + 1}, ${result.scenario} (${sizes.join(", ")}), ${result.peer}`;
  if (result.kind === "failed") return `${who}: FAILED: ${result.reason}`;
  const seconds = `${result.figures.seconds?.toFixed(1) ?? "?"} s`;
  return `${who}: ${seconds}${result.kind === "projected" ? " (projected)" : ""}`;
}

/** What is shipped is measured, not sources. */
async function builtPeers(): Promise<readonly Peer[]> {
  const args = ["--conditions=development", top("scripts/bundle/main.ts")];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the controller or the sidecar cannot be bundled:\n${stderr}`);
  await buildControlPlane();
  return [cloudwire, ...upstreamPeers(await buildUpstream()), rawWriter];
}
