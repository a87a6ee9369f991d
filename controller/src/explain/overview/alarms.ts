import type { Alarm, BrakeStanding, ObjectRow } from "@cloudwire/operator-api";
import { cause, type Reason, REASONS } from "../reasons/reasons.ts";
import type { ControllerOverview } from "../endpoints/debug.ts";

export interface AlarmFacts {
  /** Rows of providers. */
  readonly providers: readonly ObjectRow[];
  readonly brakes: ReadonlyMap<string, BrakeStanding>;
  readonly controllers: readonly ControllerOverview[];
}

/** What an operator should see first, whatever else there is: what somebody must do something about before what passes. */
export function alarmsOf({ providers, brakes, controllers }: AlarmFacts): readonly Alarm[] {
  const braked = [...brakes].flatMap(([provider, { holds, message }]): readonly Alarm[] =>
    holds ? [{ ...cause("DeletionBrake", message), object: `provider/${provider}` }] : [],
  );
  const away = providers
    // Its own line, which names the Nodes.
    .filter(({ state, reason }) => state !== "ok" && reason !== "DeletionBrake")
    .toSorted((left, right) => rank(left) - rank(right))
    .map((row): Alarm => ({ ...cause(reasonOf(row), row.summary), object: row.object }));
  const broken = controllers
    .filter(({ state }) => state === "restarting")
    .map(({ name, restartingAt, lastFault }) => {
      const when = restartingAt === undefined ? "" : `; a fresh one starts at ${restartingAt}`;
      const what = lastFault === undefined ? "" : `: ${lastFault.message}`;
      return cause("ControllerRestarting", `${name} broke by a fault of this program${what}${when}.`);
    });
  return [...braked, ...away, ...broken];
}

function rank({ state }: ObjectRow): number {
  return state === "blocked" ? 0 : 1;
}

function reasonOf({ reason }: ObjectRow): Reason {
  return reason !== undefined && isReason(reason) ? reason : "UnexpectedFailure";
}

function isReason(reason: string): reason is Reason {
  return Object.hasOwn(REASONS, reason);
}
