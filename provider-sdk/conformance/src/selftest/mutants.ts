import type { Mutant } from "./mutant.ts";
import { balancerMutants } from "./mutants/load-balancers.ts";
import { balancerChangeMutants } from "./mutants/load-balancer-changes.ts";
import { changeMutants } from "./mutants/route-changes.ts";
import { cloudMutants } from "./mutants/cloud.ts";
import { compatibilityMutants } from "./mutants/compatibility.ts";
import { concurrencyMutants } from "./mutants/concurrency.ts";
import { errorMutants } from "./mutants/errors.ts";
import { featureMutants } from "./mutants/features.ts";
import { faultMutants } from "./mutants/faults.ts";
import { identityMutants } from "./mutants/identity.ts";
import { instanceFactMutants } from "./mutants/instance-facts.ts";
import { nodeMutants } from "./mutants/nodes.ts";
import { pageMutants } from "./mutants/pages.ts";
import { refusalMutants } from "./mutants/refusals.ts";
import { scaleMutants } from "./mutants/scale.ts";
import { watchMutants } from "./mutants/watch.ts";
import { routeMutants } from "./mutants/routes.ts";
import { volumeMutants } from "./mutants/volumes.ts";

/** What a provider says of itself changes no refusal, and to provoke them all takes a second. */
const refusals: readonly string[] = ["err.**", "val.**"];

/** Every faulty provider, each with the checks that find its fault. */
export const mutants: readonly Mutant[] = [
  ...identityMutants.map((mutant) => ({ skip: refusals, ...mutant })),
  ...errorMutants,
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
