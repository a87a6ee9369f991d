import type { Check } from "../check/check.ts";
import { absenceChecks } from "./absence.ts";
import { compatibilityChecks } from "./compat.ts";
import { concurrencyLimitChecks } from "./conc-limits.ts";
import { concurrencyChecks } from "./conc.ts";
import { balancerChangeChecks } from "./lb-changes.ts";
import { featureChecks } from "./lb-features.ts";
import { balancerNodeChecks } from "./lb-nodes.ts";
import { refusalChecks } from "./lb-refusals.ts";
import { nodeSetRestartChecks } from "./nset-restart.ts";
import { nodeSetChecks } from "./nset.ts";
import { routeOwnershipChecks } from "./route-ownership.ts";
import { routeChecks } from "./route.ts";
import { balancerChecks } from "./lb.ts";
import { batchChecks } from "./batch.ts";
import { errChecks } from "./err.ts";
import { faultChecks } from "./faults.ts";
import { healthChecks } from "./health.ts";
import { infoChecks } from "./info.ts";
import { instanceFactChecks } from "./inst-facts.ts";
import { instanceChecks } from "./inst.ts";
import { lifeChecks } from "./life.ts";
import { pageChecks } from "./list-pages.ts";
import { listChecks } from "./lists.ts";
import { machineChecks } from "./machines.ts";
import { nothingChecks } from "./nothing.ts";
import { killChecks } from "./kill.ts";
import { procChecks } from "./proc.ts";
import { reflectChecks } from "./reflect.ts";
import { scaleChecks } from "./scale.ts";
import { secretLogChecks } from "./secret-logs.ts";
import { tlsChecks } from "./sec-tls.ts";
import { timeChecks } from "./time.ts";
import { valChecks } from "./val.ts";
import { volumeChecks } from "./vol.ts";
import { watchChangeChecks } from "./watch-changes.ts";
import { watchLifeChecks } from "./watch-life.ts";
import { watchLoadChecks } from "./watch-load.ts";
import { watchChecks } from "./watch.ts";

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
