import type { Check } from "../suite/check.ts";
import { absenceChecks } from "./resilience/absence.ts";
import { compatibilityChecks } from "./identity/compatibility.ts";
import { concurrencyChecks, concurrencyLimitChecks } from "./calls/concurrency.ts";
import { balancerChangeChecks } from "./load-balancers/changes.ts";
import { featureChecks } from "./load-balancers/features.ts";
import { balancerNodeChecks } from "./load-balancers/nodes.ts";
import { refusalChecks } from "./load-balancers/refusals.ts";
import { nodeSetChecks, nodeSetRestartChecks } from "./load-balancers/node-sets.ts";
import { routeOwnershipChecks } from "./routes/ownership.ts";
import { routeChecks } from "./routes/routes.ts";
import { balancerChecks } from "./load-balancers/load-balancers.ts";
import { batchChecks } from "./calls/batches.ts";
import { errChecks } from "./calls/errors.ts";
import { faultChecks } from "./resilience/faults.ts";
import { healthChecks } from "./identity/health.ts";
import { infoChecks } from "./identity/info.ts";
import { instanceFactChecks } from "./instances/facts.ts";
import { instanceChecks } from "./instances/instances.ts";
import { lifeChecks } from "./process/lifecycle.ts";
import { pageChecks } from "./instances/pages.ts";
import { listChecks } from "./calls/lists.ts";
import { machineChecks } from "./resilience/machines.ts";
import { nothingChecks } from "./calls/never-created.ts";
import { killChecks } from "./resilience/kill.ts";
import { procChecks } from "./process/process.ts";
import { reflectChecks } from "./identity/reflection.ts";
import { scaleChecks } from "./resilience/scale.ts";
import { secretLogChecks } from "./process/secret-logs.ts";
import { tlsChecks } from "./process/tls.ts";
import { timeChecks } from "./calls/deadlines.ts";
import { valChecks } from "./calls/validation.ts";
import { volumeChecks } from "./volumes/volumes.ts";
import { watchChangeChecks } from "./watches/changes.ts";
import { watchLifeChecks } from "./watches/lifecycle.ts";
import { watchLoadChecks } from "./watches/load.ts";
import { watchChecks } from "./watches/watches.ts";

/** Every check, in the order in which reports show them. */
export const allChecks: readonly Check[] = [
  ...procChecks,
  ...lifeChecks,
  ...infoChecks,
  ...healthChecks,
  ...reflectChecks,
  ...tlsChecks,
  ...secretLogChecks,
  ...errChecks,
  ...valChecks,
  ...timeChecks,
  ...instanceChecks,
  ...instanceFactChecks,
  ...volumeChecks,
  ...batchChecks,
  ...listChecks,
  ...pageChecks,
  ...nothingChecks,
  ...balancerChecks,
  ...featureChecks,
  ...balancerChangeChecks,
  ...refusalChecks,
  ...balancerNodeChecks,
  ...nodeSetChecks,
  ...nodeSetRestartChecks,
  ...routeChecks,
  ...routeOwnershipChecks,
  ...concurrencyChecks,
  ...killChecks,
  ...concurrencyLimitChecks,
  ...compatibilityChecks,
  ...watchChecks,
  ...watchLoadChecks,
  ...watchChangeChecks,
  ...watchLifeChecks,
  ...absenceChecks,
  ...machineChecks,
  ...faultChecks,
  ...scaleChecks,
];
