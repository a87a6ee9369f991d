import { readFlags, wholeNumber } from "../lib/command-line.ts";

export interface SoakOptions {
  readonly durationMs: number;
  readonly nodes: number;
  readonly services: number;
  readonly seed: number;
  /** Directory for the samples and logs. */
  readonly out: string;
}

export type ParsedSoakOptions =
  | { readonly kind: "options"; readonly options: SoakOptions }
  | { readonly kind: "help" }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

export const HELP = `Usage: npm run soak -- [options]

Runs controller and sidecar for a long time over a real control plane and a simulated cloud, under churn, and fails when memory,
descriptors or threads grow, or when an object is not up to date at the end.

  --duration=30m     how long the churn lasts, such as 90s, 30m or 2h
  --nodes=1000       machines and their nodes
  --services=80      Services
  --seed=1           of the churn
  --out=DIRECTORY       where samples.csv, summary.txt and the programs' logs go (default bench/out/soak)
`;

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** The parsed options, or all problems. */
export function parseSoakOptions(args: readonly string[], defaultOut: string): ParsedSoakOptions {
  const defaults = { duration: "30m", nodes: "1000", services: "80", seed: "1", out: defaultOut };
  const flags = readFlags(args, defaults);
  if (flags.kind !== "flags") return flags;
  const problems: string[] = [];
  const options = {
    durationMs: duration(flags.get("duration"), problems),
    nodes: wholeNumber("nodes", flags.get("nodes"), 10_000, problems),
    services: wholeNumber("services", flags.get("services"), 1000, problems),
    seed: wholeNumber("seed", flags.get("seed"), 4_294_967_295, problems),
    out: flags.get("out"),
  };
  return problems.length === 0 ? { kind: "options", options } : { kind: "problems", problems };
}

function duration(text: string, problems: string[]): number {
  const [, number, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  const durationMs = unit === "s" || unit === "m" || unit === "h" ? Number(number) * UNIT_MS[unit] : 0;
  if (durationMs === 0) problems.push(`--duration ${text}: must be a number with its unit, such as 90s, 30m or 2h`);
  return durationMs;
}
