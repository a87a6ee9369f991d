import { parseArgs } from "node:util";
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
  const text = (value: string | readonly string[]) => ({ type: "string", default: String(value) }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: text("5000"),
      services: text("100"),
      joining: text("10"),
      steady: text("600"),
      rounds: text("3"),
      scenarios: text(choices.scenarios),
      peers: text(choices.peers),
      out: text(choices.defaultOut),
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return { kind: "help" };
  const problems: string[] = [];
  const sizes = {
    nodes: count("nodes", values.nodes, 20_000, problems),
    services: count("services", values.services, 1000, problems),
    joining: count("joining", values.joining, 1000, problems),
    steadyMs: count("steady", values.steady, 86_400, problems) * 1000,
  };
  const options = {
    sizes,
    rounds: count("rounds", values.rounds, 100, problems),
    scenarios: names("scenarios", values.scenarios, choices.scenarios, problems),
    peers: names("peers", values.peers, choices.peers, problems),
    out: values.out,
  };
  return problems.length === 0 ? { kind: "options", options } : { kind: "problems", problems };
}

function count(name: string, text: string, max: number, problems: string[]): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    problems.push(`--${name} ${text}: must be a whole number from 1 to ${max}`);
  return value;
}

function names(flag: string, text: string, known: readonly string[], problems: string[]): readonly string[] {
  const given = text.split(",").map((name) => name.trim());
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) problems.push(`--${flag} ${unknown.join()}: there are ${known.join(", ")}`);
  return given;
}
