import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { buildControlPlane } from "@cloudwire/control-plane";
import { buildUpstream } from "@cloudwire/test";
import { stopSignal } from "../lib/stop-signal.ts";
import { standings } from "./goals.ts";
import { type BenchOptions, helpText, parseBenchOptions } from "./options.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "./names.ts";
import { cloudwire, rawWriter, upstreamPeers } from "./peers.ts";
import { type Result, tableOf } from "./results.ts";
import { markdownTable } from "../lib/markdown-table.ts";
import { measure, rotated } from "./run.ts";
import type { Scenario } from "./scenario.ts";
import { initialise } from "./scenarios/initialise.ts";
import { join } from "./scenarios/join.ts";
import { restart } from "./scenarios/restart.ts";
import { services } from "./scenarios/services.ts";
import { steady } from "./scenarios/steady.ts";

/** sysexits.h: the command was used incorrectly. */
const EXIT_USAGE = 64;
/** As a shell says of SIGINT. */
const EXIT_INTERRUPTED = 130;

const SCENARIOS: readonly Scenario[] = [initialise, services, restart, join, steady];
const PEERS = [CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED, RAW_WRITER] as const;
const top = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const names = SCENARIOS.map(({ name }) => name);
  const choices = { scenarios: names, peers: PEERS, defaultOut: top("bench/out/bench.json") };
  const parsed = parseBenchOptions(args, choices);
  switch (parsed.kind) {
    case "help":
      process.stdout.write(helpText(choices));
      return 0;
    case "problems":
      for (const problem of parsed.problems) console.error(`bench: ${problem}`);
      return EXIT_USAGE;
    case "options":
      return bench(parsed.options, stopSignal());
    default:
      return parsed satisfies never;
  }
}

async function bench(options: BenchOptions, stop: AbortSignal): Promise<number> {
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? "?"}, ${gib(totalmem())} GiB`,
  );
  const results: Result[] = [];
  try {
    for await (const result of measureAll(options, stop)) {
      results.push(result);
      const { round, scenario, peer, figures } = result;
      console.log(`round ${round + 1}, ${scenario}, ${peer}: ${figures.seconds.toFixed(1)} s`);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
    console.error("bench: interrupted; this is what there is");
  } finally {
    await write(options, results);
  }
  print(options, results);
  return stop.aborted ? EXIT_INTERRUPTED : 0;
}

async function* measureAll(options: BenchOptions, stop: AbortSignal): AsyncGenerator<Result> {
  buildCloudwire();
  await buildControlPlane();
  const all = [cloudwire, ...upstreamPeers(await buildUpstream()), rawWriter];
  const peers = all.filter(({ name }) => options.peers.includes(name));
  for (let round = 0; round < options.rounds; round += 1) {
    for (const scenario of chosen(options)) {
      const able = peers.filter((peer) => peer !== rawWriter || scenario.hasRawWriter === true);
      for (const peer of rotated(able, round)) {
        yield await measure(scenario, peer, round, options.sizes, stop);
      }
    }
  }
}

function chosen({ scenarios }: BenchOptions): readonly Scenario[] {
  return SCENARIOS.filter(({ name }) => scenarios.includes(name));
}

async function write({ out, sizes }: BenchOptions, results: readonly Result[]): Promise<void> {
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, `${JSON.stringify({ sizes, results }, undefined, 2)}\n`);
}

function print(options: BenchOptions, results: readonly Result[]): void {
  for (const { name, about } of chosen(options)) {
    const own = results.filter(({ scenario }) => scenario === name);
    if (own.length === 0) continue;
    console.log(`\n${name}: ${about(options.sizes)}\n\n${tableOf(own, CLOUDWIRE)}`);
  }
  const words = { pass: "pass", fail: "FAIL", notMeasured: "not measured" } as const;
  const rows = standings(results, options.sizes).map(({ goal, got, kind }) => [goal, got, words[kind]]);
  console.log(`\nGoals\n\n${markdownTable([["goal", "got", ""], ...rows])}`);
}

/** What is shipped is measured, not sources. */
function buildCloudwire(): void {
  const args = ["--conditions=development", top("scripts/bundle/main.ts")];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the controller or the sidecar cannot be bundled:\n${stderr}`);
}

function gib(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(0);
}
