import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { spawnCloud } from "@cloudwire/provider-simulated";
import { readFlags, wholeNumber } from "../lib/command-line.ts";
import { thisMachine } from "../compare/report/results-file.ts";
import { between } from "../publish/page.ts";
import { type Life, measureLife } from "./measure.ts";
import { builtProviders } from "./providers.ts";
import { missedGoals, sdkTable } from "./report.ts";

/** sysexits.h: the command was used incorrectly. */
const EXIT_USAGE = 64;

const PAGE = fileURLToPath(new URL("../../../docs/explanation/performance.md", import.meta.url));

const DEFAULTS = { runs: "10", idle: "30" } as const;

const HELP = `Usage: npm run bench:sdk -- [--runs=${DEFAULTS.runs}] [--idle=${DEFAULTS.idle}] [--publish]

What a provider costs by the language of its SDK: how soon it serves, and its memory after so many seconds of rest.
  --runs=N     lives of each provider
  --idle=N     seconds of rest before its memory is read
  --publish    puts the table into docs/explanation/performance.md
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const flags = readFlags(args, DEFAULTS, ["publish"]);
  if (flags.kind === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  if (flags.kind === "problems") return refuse(flags.problems);
  const problems: string[] = [];
  const runs = wholeNumber("runs", flags.get("runs"), 1_000, problems);
  const idleSeconds = wholeNumber("idle", flags.get("idle"), 3_600, problems);
  if (problems.length > 0) return refuse(problems);
  const lives = await measureAll(runs, idleSeconds * 1_000);
  const table = sdkTable(lives);
  console.log(`\n${table}\n`);
  const machine = `Measured on ${thisMachine()}; ${runs} lives of each, memory after ${idleSeconds} s.`;
  if (flags.has("publish")) {
    const page = await readFile(PAGE, "utf8");
    await writeFile(PAGE, between(page, "sdk", `${machine}\n\n${table}`));
  }
  const missed = missedGoals(lives);
  for (const goal of missed) console.error(`bench: ${goal}`);
  return missed.length === 0 ? 0 : 1;
}

/** One after the other, in an order that changes: what else the machine does concerns all. */
async function measureAll(runs: number, idleMs: number): Promise<ReadonlyMap<string, readonly Life[]>> {
  const { ready, missing } = builtProviders();
  for (const problem of missing) console.error(`not measured: ${problem}`);
  const apiKey = "bench";
  const cloud = await spawnCloud({ flags: { account: `bench=${apiKey}` } });
  try {
    const lives = new Map<string, Life[]>(ready.map(({ name }) => [name, []]));
    for (let run = 0; run < runs; run++) {
      const order = run % 2 === 0 ? ready : ready.toReversed();
      for (const provider of order) {
        const life = await measureLife(provider, { url: cloud.url, apiKey }, idleMs);
        lives.get(provider.name)?.push(life);
        console.log(
          `${provider.name}: ${life.servingMs.toFixed(0)} ms, CPU ${life.startCpuMs.toFixed(0)} ms, RSS ${(life.rssBytes / 1e6).toFixed(0)} MB, PSS ${(life.pssBytes / 1e6).toFixed(0)} MB`,
        );
      }
    }
    return lives;
  } finally {
    await cloud.stop();
  }
}

function refuse(problems: readonly string[]): number {
  for (const problem of problems) console.error(`bench: ${problem}`);
  return EXIT_USAGE;
}
