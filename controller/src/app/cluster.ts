import { observesAll, observesAny } from "../observe/mode.ts";
import { modesOf } from "../observe/mode.ts";
import type { Options } from "./options.ts";
import { Plans, type PlansDependencies } from "../observe/plans.ts";
import type { ControllerMetrics } from "../runtime/metrics.ts";
import { WriteGate } from "../observe/write-filter.ts";

/** What a process has that only plans, all or in part. */
export interface Observing {
  readonly gate: WriteGate;
  readonly plans: Plans;
}

/** undefined: everything that is planned is done. */
export function observing({
  options,
  ...dependencies
}: PlansDependencies & { readonly options: Pick<Options, "mode" | "controllerMode" | "providerMode"> }):
  | Observing
  | undefined {
  const modes = modesOf(options);
  if (!observesAny(modes)) return undefined;
  const extent = observesAll(modes) ? "all of this process, which takes no part in leader election" : "in part";
  dependencies.log.info("Observing: what would be written is planned and reported, and not written", { extent });
  return { gate: new WriteGate(modes), plans: new Plans(dependencies) };
}

/** Reports what the reconciles of a controller come to. */
export function reporter(plans: Plans, controller: string): NonNullable<ControllerMetrics["planned"]> {
  return (key, provider, writes) => {
    if (writes === undefined) plans.failed({ controller, key, provider });
    else plans.settle({ controller, key, provider, writes });
  };
}
