import { allChecks } from "../checks/registry.ts";
import type { NamedFault } from "./fault-outcome.ts";
import type { Mutant } from "./mutant.ts";
import { cloudMutants } from "./mutants/cloud.ts";
import { compatibilityMutants, concurrencyMutants, neverCreatedMutants } from "./mutants/calls.ts";
import { errorMutants } from "./mutants/errors.ts";
import { faultMutants } from "./mutants/faults.ts";
import { featureMutants, refusalMutants } from "./mutants/features.ts";
import { identityMutants } from "./mutants/identity.ts";
import { instanceFactMutants, pageMutants } from "./mutants/instances.ts";
import { balancerChangeMutants } from "./mutants/load-balancer-changes.ts";
import { balancerMutants } from "./mutants/load-balancers.ts";
import { nodeMutants } from "./mutants/nodes.ts";
import { processMutants, tlsMutants } from "./mutants/process.ts";
import { changeMutants, routeMutants } from "./mutants/routes.ts";
import { scaleMutants } from "./mutants/scale.ts";
import { volumeMutants } from "./mutants/volumes.ts";
import { watchMutants } from "./mutants/watch.ts";

/** What a provider says of itself changes no refusal, and to provoke them all takes a second. */
const refusals: readonly string[] = ["err.**", "val.**"];

/** Every faulty provider, each with the checks that find its fault. */
export const mutants: readonly Mutant[] = [
  ...identityMutants.map((mutant) => ({ skip: refusals, ...mutant })),
  ...errorMutants,
  ...neverCreatedMutants,
  ...cloudMutants,
  ...balancerMutants,
  ...nodeMutants,
  ...featureMutants,
  ...balancerChangeMutants,
  ...refusalMutants,
  ...routeMutants,
  ...volumeMutants,
  ...instanceFactMutants,
  ...pageMutants,
  ...concurrencyMutants,
  ...compatibilityMutants,
  ...changeMutants,
  ...watchMutants,
  ...faultMutants,
  ...scaleMutants,
];

/** Checks that take long and are no sign of another fault: run only for mutants that ask for them. */
export const slowChecks: readonly string[] = [
  "proc.conn.**",
  "info.fast",
  "status.cheap",
  "proc.keepalive.tolerant",
  "watch.**",
  "lb.watch.**",
  "health.watch.**",
];

/** Every fault that the kit shows to be found, however it is put in. */
export const namedFaults: readonly NamedFault[] = [...mutants, ...tlsMutants, ...processMutants];

/** Ids of the checks that count and that no fault makes fail: it is unproven that they can fail. */
export const unprovenChecks = (): readonly string[] => {
  const proven = new Set(namedFaults.flatMap(({ fails }) => fails));
  return allChecks.filter(({ id, advisory }) => advisory !== true && !proven.has(id)).map(({ id }) => id);
};
