import { serveFake } from "../selftest/serve-fake.ts";
import type { Arguments } from "../cli/arguments.ts";
import { exitCodes, type ProgramDeps } from "../cli/program-deps.ts";

/** Serves until the process is ended. */
export const runServeFake = async ({ endpoint, faults }: Arguments, deps: ProgramDeps): Promise<number> => {
  await serveFake({ endpoint, faults, onServing: (where) => deps.out(`serving at ${where} until it is ended\n`) });
  return exitCodes.passed;
};
