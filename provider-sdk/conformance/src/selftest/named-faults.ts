import { allChecks } from "../checks/registry.ts";
import type { NamedFault } from "./fault-outcome.ts";
import { mutants } from "./mutants.ts";
import { processMutants } from "./mutants/process.ts";
import { tlsMutants } from "./mutants/tls.ts";

/** Every fault that the kit shows to be found, however it is put in. */
export const namedFaults: readonly NamedFault[] = [...mutants, ...tlsMutants, ...processMutants];

/** Ids of the checks that count and that no fault makes fail: nobody knows whether they can. */
export const unprovenChecks = (): readonly string[] => {
  const proven = new Set(namedFaults.flatMap(({ fails }) => fails));
  return allChecks.filter(({ id, advisory }) => advisory !== true && !proven.has(id)).map(({ id }) => id);
};
