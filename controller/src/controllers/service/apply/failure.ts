import type { Service } from "../../../api/service.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { isInLine, isQuiet } from "../errors.ts";
import { isBusyStill } from "../failure.ts";
import { readinessOfFailure } from "../failure-readiness.ts";
import { toldReadiness } from "../plan/status.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { tell } from "./status.ts";

export interface TellFailureDependencies extends Pick<ApplyDependencies, "conditions" | "kube" | "ownWrites"> {
  /** Failures of one kind in a row, this one included. */
  readonly inARow: number;
}

/** Says in the Service's condition what stands in the way. Never fails: what went wrong before is what counts. */
export async function tellFailure(
  error: unknown,
  cached: Service,
  deps: TellFailureDependencies,
  context: ReconcileContext,
): Promise<void> {
  const { inARow, ownWrites } = deps;
  // What waits makes no event, but people who look find out why nothing happens.
  const isTold = isBusyStill(error, inARow) || isInLine(error);
  if (context.signal.aborted || (isQuiet(error, context) && !isTold)) return;
  const service = ownWrites.latest(cached);
  const readiness = readinessOfFailure(error);
  if (readiness === undefined) return;
  // One failed look does not make a load balancer that serves a doubtful one.
  if (readiness.status === "Unknown" && inARow === 1 && toldReadiness(service)?.status === "True") return;
  try {
    await tell(service, readiness, deps, context);
  } catch (failure) {
    context.log.debug(2, "The condition of the Service could not be written", { err: failure });
  }
}
