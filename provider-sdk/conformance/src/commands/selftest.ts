import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isSea } from "node:sea";
import { UsageError } from "../errors.ts";
import { allChecks } from "../checks/registry.ts";
import { selftestLines, selftestSummary, SelftestTally } from "../selftest/summary.ts";
import { serveReference } from "../reference/provider.ts";
import { parsePattern } from "../suite/plan.ts";
import type { SelftestTarget } from "../selftest/run-mutant.ts";
import {
  type Elsewhere,
  type SelftestEvent,
  selftestNames,
  type SelftestOptions,
  wholeSelftest,
} from "../selftest/selftest.ts";
import { parseEndpoint } from "../endpoint/endpoint.ts";
import type { Arguments } from "../cli/arguments.ts";
import { readConfig } from "../cli/config.ts";
import { exitCodes, type ProgramDeps } from "../cli/program-deps.ts";
import { withTarget } from "../cli/target.ts";

/** Puts faults into the kit's own provider, or into the one that is given. */
export const runSelftest = async (args: Arguments, deps: ProgramDeps): Promise<number> => {
  const isReference = args.endpoint === undefined && args.provider.length === 0;
  if (isReference) return selftestOfKit(args, deps);
  const fixtures = await readConfig(args.config);
  return withTarget(args, deps, ({ parsed }) => {
    const serve = async () => ({ endpoint: parsed, fixtures, close: async () => undefined });
    return tested({ serve, level: args.level, workers: 1 }, { isReference: false }, args, deps);
  });
};

const selftestOfKit = async (args: Arguments, deps: ProgramDeps): Promise<number> => {
  if (args.config !== undefined)
    throw new UsageError("--config is about your provider: give it with --endpoint or behind --");
  // What the faulty processes compile they compile once.
  const directory = await mkdtemp(join(tmpdir(), "conformance-compiled-"));
  process.env["NODE_COMPILE_CACHE"] ??= directory;
  const serve = async () => {
    const { endpoint, fixtures, close } = await serveReference();
    return { endpoint: parseEndpoint(endpoint), fixtures, close };
  };
  try {
    const target = { serve, level: "X", workers: args.parallel } as const;
    return await tested(target, { isReference: true, faultyProcess, elsewhere: elsewhere(args, deps) }, args, deps);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

type Kind = Pick<SelftestOptions, "isReference" | "elsewhere"> & { readonly faultyProcess?: typeof faultyProcess };

const tested = async (
  target: Pick<SelftestTarget, "serve" | "level" | "workers">,
  { isReference, faultyProcess: starts, elsewhere: others }: Kind,
  args: Arguments,
  deps: ProgramDeps,
): Promise<number> => {
  const { only, seed, seeds, slowFactor, startTimeoutMs, thorough } = args;
  const unknown = only.filter((name) => !selftestNames().includes(name));
  if (unknown.length > 0)
    throw new UsageError(`there is no fault ${unknown.join(", ")}; selftest without --only prints the names`);
  const ids = allChecks.map(({ id }) => id);
  const lines = selftestLines(args.format === "json", deps.terminal);
  const tally = new SelftestTally();
  await wholeSelftest({
    ...target,
    only,
    seed,
    seeds,
    slowFactor,
    startTimeoutMs,
    thorough,
    isReference,
    faultyProcess: starts,
    elsewhere: others,
    checks: args.run.map((text) => parsePattern(text, ids)),
    signal: deps.signal,
    onEvent: (event) => {
      tally.add(event);
      const { out, err } = lines(event, tally);
      deps.err(err);
      deps.out(out);
    },
  });
  deps.out(selftestSummary(tally, isReference, args.format === "json"));
  return tally.isGood(isReference) ? exitCodes.passed : exitCodes.failed;
};

/** This program. */
const self = (): readonly string[] => [
  process.execPath,
  ...(isSea() ? [] : [...process.execArgv, process.argv[1] ?? ""]),
];

/** Starts this program once more, as a provider with a fault. */
const faultyProcess = (fault: string | undefined): readonly string[] => [
  ...self(),
  "serve-fake",
  ...(fault === undefined ? [] : ["--faults", fault]),
];

/** Starts this program once more for each core, each with a share of the faults, and of the runs with other seeds. */
const elsewhere = (args: Arguments, { signal, err }: ProgramDeps): Elsewhere => {
  const { seed, seeds, slowFactor, parallel, thorough } = args;
  const processes = availableParallelism();
  const run: Elsewhere["run"] = async (names, onEvent) => {
    const [program = "", ...before] = self();
    const common = ["--format", "json", "--slow-factor", `${slowFactor}`, "--parallel", `${parallel}`];
    const one = async (process: number): Promise<void> => {
      const only = names.filter((_name, index) => index % processes === process).flatMap((name) => ["--only", name]);
      if (only.length === 0) return;
      // Each begins with a seed of its own; the first takes those that are left.
      const left = process === 0 ? Math.max(0, seeds + 1 - processes) : 0;
      const own = ["--seed", `${process === 0 ? seed : seed + left + process}`, "--seeds", `${left}`];
      const all = [...before, "selftest", ...common, ...own, ...(thorough ? ["--thorough"] : []), ...only];
      const child = spawn(program, all, { stdio: ["ignore", "pipe", "pipe"], signal });
      child.stderr.on("data", (chunk: Buffer) => err(chunk.toString()));
      const ended = once(child, "close");
      for await (const line of createInterface({ input: child.stdout })) {
        const event: SelftestEvent | { readonly kind: "summary" } = JSON.parse(line);
        if (event.kind !== "summary") onEvent(event);
      }
      await ended;
    };
    await Promise.all(Array.from({ length: processes }, (_, process) => one(process)));
  };
  return { run };
};
