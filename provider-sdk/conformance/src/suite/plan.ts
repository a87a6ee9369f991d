import type { Capabilities } from "@cloudwire/proto/cloudprovider/v1/identity";
import { type Check, type FixtureName, type Level, levels, type ProfileName, profiles } from "./check.ts";
import type { Fixtures } from "./fixtures.ts";
import type { HookName } from "./hooks.ts";
import { isClaimed } from "../contract/capabilities.ts";
import type { SkipReason } from "../report/report.ts";
import { matchesAny, type Pattern } from "./patterns.ts";

/** What decides which checks run. */
export interface Selection {
  readonly level: Level;
  /** Empty: all that the provider claims. */
  readonly profiles: readonly ProfileName[];
  /** Empty: all. */
  readonly run: readonly Pattern[];
  readonly skip: readonly Pattern[];
}

/** A check and, if it is not to run, why. */
export interface PlannedCheck {
  readonly check: Check;
  readonly skip?: { readonly reason: SkipReason; readonly detail: string };
}

/** What is known of the provider before the first check. */
export interface PlanFacts {
  readonly capabilities: Capabilities | undefined;
  readonly transport: "unix" | "tcp" | "tls";
  /** The kit can start the provider. */
  readonly canStart: boolean;
  readonly fixtures: Fixtures;
  readonly hasHook: (name: HookName) => boolean;
}

/** Which checks run, and why the others do not. Checks of profiles that nobody asked for are left out. */
export const plan = (checks: readonly Check[], selection: Selection, facts: PlanFacts): readonly PlannedCheck[] =>
  checks
    .filter(({ profile }) => selection.profiles.length === 0 || selection.profiles.includes(profile))
    .map((check) => {
      const skip = skipOf(check, selection, facts);
      return skip === undefined ? { check } : { check, skip };
    });

const skipOf = (check: Check, selection: Selection, facts: PlanFacts): PlannedCheck["skip"] => {
  const unclaimed = [profiles[check.profile], check.capability ?? ""].find(
    (path) => !isClaimed(facts.capabilities, path),
  );
  if (unclaimed !== undefined) return { reason: "capability", detail: `${unclaimed} is not claimed` };
  const { transport } = check;
  if (transport !== undefined && transport !== facts.transport && !(transport === "tcp" && facts.transport === "tls"))
    return { reason: "transport", detail: transportTexts[transport] };
  if (check.starts === true && !facts.canStart)
    return { reason: "mode", detail: "starts providers of its own: give the kit a command, behind --" };
  const chosen = selection.run.length === 0 || matchesAny(selection.run, check.id);
  if (!chosen || matchesAny(selection.skip, check.id)) return { reason: "user", detail: "left out by the user" };
  if (levels.indexOf(check.level) > levels.indexOf(selection.level))
    return { reason: "level", detail: `is of level ${check.level}` };
  return missingOf(check, facts);
};

/** What the configuration lacks. */
const missingOf = (
  { fixtures = [], hooks = [] }: Check,
  { fixtures: given, hasHook }: PlanFacts,
): PlannedCheck["skip"] => {
  const missing = fixtures.find((name) => !hasFixture(given, name));
  if (missing !== undefined) return { reason: "fixture", detail: `the configuration has no ${missing}` };
  const hook = hooks.find((name) => !hasHook(name));
  return hook === undefined ? undefined : { reason: "hook", detail: `the configuration has no hook ${hook}` };
};

const transportTexts: Readonly<Record<NonNullable<Check["transport"]>, string>> = {
  unix: "is about unix sockets",
  tcp: "is about TCP",
  tls: "is about TLS",
};

const hasFixture = (fixtures: Fixtures, name: FixtureName): boolean => fixtures[name] !== undefined;
