import type { PlansPage } from "@cloudwire/operator-api";
import { effectOf, type Effect, summaryOf } from "../../observe/planned-write.ts";
import type { Plans } from "../../observe/plans.ts";
import type { SupervisedController } from "../../runtime/supervised-controller.ts";
import { iso } from "../../util/iso-time.ts";

/** What would be written of what is observed, for `/debug/plans`. */
export function debugPlans(plans: Plans | undefined, controllers: readonly SupervisedController[]): PlansPage {
  const all = plans?.all ?? [];
  const undecided = plans?.undecided ?? [];
  const effects = all.flatMap(({ writes }) => writes.map(effectOf));
  const count = (wanted: Effect): number => effects.filter((effect) => effect === wanted).length;
  return {
    observes: plans !== undefined,
    settled: undecided.length === 0 && controllers.length > 0 && controllers.every(isIdle),
    pending: { addition: count("addition"), change: count("change"), removal: count("removal") },
    undecided,
    plans: all.map(({ controller, key, provider, digest, sinceMs, writes }) => ({
      controller,
      key,
      provider,
      digest,
      since: iso(sinceMs),
      writes: writes.map((write) => ({ ...write, effect: effectOf(write), summary: summaryOf(write) })),
    })),
  };
}

function isIdle({ state, current }: SupervisedController): boolean {
  if (state.kind === "off") return true;
  const queue = current?.snapshot(0).queue;
  return queue !== undefined && queue.working.count === 0 && queue.lanes.every(({ high, low }) => high + low === 0);
}
