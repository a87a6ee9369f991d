import { readFlags, wholeNumber } from "../lib/command-line.ts";
import type { PlanOptions } from "./plan.ts";
import type { Size, Sizes } from "./scenarios/scenario.ts";

export interface BenchOptions {
  readonly plan: PlanOptions;
  /** Of one work; 0: without end. */
  readonly patienceMs: number;
  /** File for all results, as JSON. */
  readonly out: string;
  /** Skips measurements that the file already has. */
  readonly resume: boolean;
}

/** Measures, or publishes the results. */
export type ParsedBenchOptions =
  | { readonly kind: "options"; readonly options: BenchOptions }
  | { readonly kind: "publish"; readonly out: string }
  | { readonly kind: "help" }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

export interface BenchChoices {
  readonly scenarios: readonly string[];
  readonly peers: readonly string[];
  readonly defaultOut: string;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Flag of each size that can be given, with the most of it. */
const SIZE_FLAGS: Readonly<Record<"nodes" | "services" | "joining" | "steady", readonly [Size, number]>> = {
  nodes: ["nodes", 20_000],
  services: ["services", 1000],
  joining: ["joining", 1000],
  steady: ["steadySeconds", DAY_SECONDS],
};

export function helpText({ scenarios, peers, defaultOut }: BenchChoices): string {
  return `Usage: npm run bench -- [options]

Gives Cloudwire and upstream's cloud-controller-manager the same work, one after the other, each over a kube-apiserver, an etcd and a
separate simulated cloud, prints the results, and checks the goals. Without options that takes hours; each result is
in the file as soon as it is there.

  --rounds=3           how often all is done
  --scenarios=LIST     of ${scenarios.join(",")} (default all)
  --peers=LIST         of ${peers.join(",")} (default: in each scenario the peers of its goals)
  --patience=SECONDS   a work that takes longer is left, and its time projected from what was done (default: an hour, then it failed)
  --growth             instead of the goals' runs: how cost grows with nodes and with Services
  --out=FILE           all results, as JSON (default ${defaultOut}; what was there before goes to FILE.old)
  --resume             keep what FILE has, and measure only what it lacks or what failed
  --publish            measure nothing: write tables and plots of docs/explanation/performance.md from FILE

By default, sizes are those of the goals, different for each scenario. These options override a size in every scenario that has it:

  --nodes=N            nodes
  --services=N         Services
  --joining=N          nodes that join while Services are there
  --steady=SECONDS     how long nothing happens
`;
}

/** The parsed options, or all problems. */
export function parseBenchOptions(args: readonly string[], choices: BenchChoices): ParsedBenchOptions {
  const switches = ["growth", "resume", "publish"] as const;
  const flags = readFlags(
    args,
    {
      nodes: "",
      services: "",
      joining: "",
      steady: "",
      rounds: "3",
      scenarios: choices.scenarios.join(),
      peers: "",
      patience: "",
      out: choices.defaultOut,
    },
    switches,
  );
  if (flags.kind !== "flags") return flags;
  const out = flags.get("out");
  if (flags.has("publish")) return { kind: "publish", out };
  const problems: string[] = [];
  const patience = flags.get("patience");
  const peers = flags.get("peers");
  const options: BenchOptions = {
    plan: {
      scenarios: names("scenarios", flags.get("scenarios"), choices.scenarios, problems),
      peers: peers === "" ? undefined : names("peers", peers, choices.peers, problems),
      sizes: givenSizes(flags.get, problems),
      rounds: wholeNumber("rounds", flags.get("rounds"), 100, problems),
      growth: flags.has("growth"),
    },
    patienceMs:
      patience === "" ? Number.POSITIVE_INFINITY : wholeNumber("patience", patience, HOUR_SECONDS, problems) * 1000,
    out,
    resume: flags.has("resume"),
  };
  return problems.length === 0 ? { kind: "options", options } : { kind: "problems", problems };
}

function givenSizes(get: (flag: keyof typeof SIZE_FLAGS) => string, problems: string[]): Sizes {
  const sizes: Partial<Record<Size, number>> = {};
  for (const flag of ["nodes", "services", "joining", "steady"] as const) {
    const [size, max] = SIZE_FLAGS[flag];
    const text = get(flag);
    if (text !== "") sizes[size] = wholeNumber(flag, text, max, problems);
  }
  return sizes;
}

function names(flag: string, text: string, known: readonly string[], problems: string[]): readonly string[] {
  const given = text.split(",").map((name) => name.trim());
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) problems.push(`--${flag} ${unknown.join()}: there are ${known.join(", ")}`);
  return given;
}
