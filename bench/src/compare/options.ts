import { readFlags, wholeNumber } from "../lib/flags.ts";
import type { Sizes } from "./scenario.ts";

export interface BenchOptions {
  readonly sizes: Sizes;
  readonly rounds: number;
  readonly scenarios: readonly string[];
  readonly peers: readonly string[];
  /** File for all results, as JSON. */
  readonly out: string;
}

export type ParsedBenchOptions =
  | { readonly kind: "options"; readonly options: BenchOptions }
  | { readonly kind: "help" }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

export interface BenchChoices {
  readonly scenarios: readonly string[];
  readonly peers: readonly string[];
  readonly defaultOut: string;
}

export function helpText({ scenarios, peers, defaultOut }: BenchChoices): string {
  return `Usage: npm run bench -- [options]

Gives Cloudwire and upstream's cloud-controller-manager the same work, one after the other, each over a kube-apiserver, an etcd and a
simulated cloud of its own, and prints what each needed.

  --nodes=5000         nodes
  --services=100       Services
  --joining=10         nodes that join while Services are there
  --steady=600         seconds in which nothing happens
  --rounds=3           how often all is done
  --scenarios=LIST     of ${scenarios.join(",")} (default all)
  --peers=LIST         of ${peers.join(",")} (default all)
  --out=FILE           all results, as JSON (default ${defaultOut})
`;
}

/** What was typed, or everything that is wrong with it. */
export function parseBenchOptions(args: readonly string[], choices: BenchChoices): ParsedBenchOptions {
  const flags = readFlags(args, {
    nodes: "5000",
    services: "100",
    joining: "10",
    steady: "600",
    rounds: "3",
    scenarios: choices.scenarios.join(),
    peers: choices.peers.join(),
    out: choices.defaultOut,
  });
  if (flags.kind !== "flags") return flags;
  const problems: string[] = [];
  const sizes = {
    nodes: wholeNumber("nodes", flags.get("nodes"), 20_000, problems),
    services: wholeNumber("services", flags.get("services"), 1000, problems),
    joining: wholeNumber("joining", flags.get("joining"), 1000, problems),
    steadyMs: wholeNumber("steady", flags.get("steady"), 86_400, problems) * 1000,
  };
  const options = {
    sizes,
    rounds: wholeNumber("rounds", flags.get("rounds"), 100, problems),
    scenarios: names("scenarios", flags.get("scenarios"), choices.scenarios, problems),
    peers: names("peers", flags.get("peers"), choices.peers, problems),
    out: flags.get("out"),
  };
  return problems.length === 0 ? { kind: "options", options } : { kind: "problems", problems };
}

function names(flag: string, text: string, known: readonly string[], problems: string[]): readonly string[] {
  const given = text.split(",").map((name) => name.trim());
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) problems.push(`--${flag} ${unknown.join()}: there are ${known.join(", ")}`);
  return given;
}
