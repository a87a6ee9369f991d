import type { SupervisedController } from "../runtime/supervised-controller.ts";
import type { HealthCheck } from "./health.ts";
import { messageOf } from "../util/errors.ts";
import { iso } from "../util/iso-time.ts";

/** So many in a row are no accident; reached within half a minute. */
const BROKEN_AFTER = 5;

/**
 * One check a controller, by canonical name as upstream has them. A broken one is told and fails none: a new process would do no more
 * for it than its own restart does, and would take the others down. Only when all are broken is what they share suspected, and a new
 * process wanted.
 */
export function controllerChecks(
  names: readonly string[],
  controllers: () => readonly SupervisedController[],
): readonly HealthCheck[] {
  return [
    ...names.map((name) => ({
      name,
      problem: () => undefined,
      warning: () => warningOf(controllers().find((controller) => controller.name === name)),
    })),
    { name: "controllers", problem: () => allBroken(controllers()) },
  ];
}

/** A line about those that are broken, for people. */
export function controllersSummary(controllers: readonly SupervisedController[]): string {
  const troubled = controllers.flatMap((controller) => {
    const warning = warningOf(controller);
    return warning === undefined ? [] : [`${controller.name}: ${warning}`];
  });
  return troubled.length === 0 ? "no faults" : troubled.join("; ");
}

function warningOf(controller: SupervisedController | undefined): string | undefined {
  if (controller?.state.kind !== "restarting") return undefined;
  const { atMs, error } = controller.state;
  return `broke (fault ${controller.faults} in a row) and starts again at ${iso(atMs)}: ${messageOf(error)}`;
}

function allBroken(controllers: readonly SupervisedController[]): string | undefined {
  const active = controllers.filter(({ state }) => state.kind === "running" || state.kind === "restarting");
  const isBroken = ({ state, faults }: SupervisedController): boolean =>
    state.kind === "restarting" && faults >= BROKEN_AFTER;
  if (active.length === 0 || !active.every((controller) => isBroken(controller))) return undefined;
  return `all controllers break again and again: ${active.map(({ name }) => name).join(", ")}; a new process may help`;
}
