import type { Check } from "../check/check.ts";
import { absenceChecks } from "./absence.ts";
import { concurrencyChecks } from "./conc.ts";
import { balancerNodeChecks } from "./lb-nodes.ts";
import { nodeSetChecks } from "./nset.ts";
import { routeChecks } from "./route.ts";
import { balancerChecks } from "./lb.ts";
import { batchChecks } from "./batch.ts";
import { errChecks } from "./err.ts";
import { faultChecks } from "./faults.ts";
import { healthChecks } from "./health.ts";
import { infoChecks } from "./info.ts";
import { instanceChecks } from "./inst.ts";
import { lifeChecks } from "./life.ts";
import { listChecks } from "./lists.ts";
import { machineChecks } from "./machines.ts";
import { nothingChecks } from "./nothing.ts";
import { procChecks } from "./proc.ts";
import { reflectChecks } from "./reflect.ts";
import { scaleChecks } from "./scale.ts";
import { tlsChecks } from "./sec-tls.ts";
import { timeChecks } from "./time.ts";
import { valChecks } from "./val.ts";
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
  ...errChecks,
  ...valChecks,
  ...timeChecks,
  ...instanceChecks,
  ...batchChecks,
  ...listChecks,
  ...nothingChecks,
  ...balancerChecks,
  ...balancerNodeChecks,
  ...nodeSetChecks,
  ...routeChecks,
  ...concurrencyChecks,
  ...watchChecks,
  ...watchLoadChecks,
  ...watchChangeChecks,
  ...watchLifeChecks,
  ...absenceChecks,
  ...machineChecks,
  ...faultChecks,
  ...scaleChecks,
];
