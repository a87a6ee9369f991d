import type { Capabilities } from "@cloudwire/proto/cloudprovider/v1/identity";
import { isClaimed } from "../contract/capabilities.ts";
import { UsageError } from "../errors.ts";
import type { SkipReason } from "../report/report.ts";
import { type Check, type FixtureName, type Level, type ProfileName, levels, profiles } from "./check.ts";
import type { Fixtures } from "./fixtures.ts";
import type { HookName } from "./hooks.ts";

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

/** Which checks run, and why the others do not. Checks of profiles that were not requested are left out. */
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
    return { reason: "mode", detail: "starts providers itself: give the kit a command after --" };
  const chosen = selection.run.length === 0 || matchesAny(selection.run, check.id);
  if (!chosen || matchesAny(selection.skip, check.id)) return { reason: "user", detail: "skipped by the user" };
  if (levels.indexOf(check.level) > levels.indexOf(selection.level))
    return { reason: "level", detail: `requires level ${check.level}` };
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
  unix: "requires a Unix socket",
  tcp: "requires TCP",
  tls: "requires TLS",
};

const hasFixture = (fixtures: Fixtures, name: FixtureName): boolean => fixtures[name] !== undefined;

/** Dotted ids in which `*` stands for one segment and `**` for any number of them. */
export interface Pattern {
  readonly text: string;
  readonly matches: (id: string) => boolean;
}

/** Reads a pattern; refuses one that matches none of the ids there are. */
export const parsePattern = (text: string, ids: readonly string[]): Pattern => {
  if (!/^(?:\*\*|\*|[a-z0-9_-]+)(?:\.(?:\*\*|\*|[a-z0-9_-]+))*$/.test(text))
    throw new UsageError(`"${text}" is no pattern of check ids; write err.*, err.** or err.frame.garbage`);
  const source = text
    .split(".")
    .map((segment) => (segment === "**" ? ".+" : segment === "*" ? "[^.]+" : segment))
    .join("\\.")
    // `a.**` means a itself, too.
    .replace(/\\\.\.\+$/, "(?:\\..+)?");
  const expression = new RegExp(`^${source}$`);
  const pattern = { text, matches: (id: string) => expression.test(id) };
  if (!ids.some((id) => pattern.matches(id)))
    throw new UsageError(`no check matches "${text}"; ${insteadOf(text, ids)}`);
  return pattern;
};

/** What may have been meant. */
const insteadOf = (text: string, ids: readonly string[]): string => {
  const [category = ""] = text.split(".");
  if (ids.some((id) => id.startsWith(`${category}.`))) return `all of ${category} are "${category}.**"`;
  const categories = [...new Set(ids.map((id) => id.replace(/\..*/, "")))];
  return `ids begin with ${categories.join(", ")}; see: cloudwire-conformance list`;
};

/** Whether any of the patterns matches. */
export const matchesAny = (patterns: readonly Pattern[], id: string): boolean =>
  patterns.some((pattern) => pattern.matches(id));

/** Numbers from 0 to 1 that depend on the seed and the name alone (mulberry32 over an FNV-1a hash). */
export const seededRandom = (seed: number, name: string): (() => number) => {
  let state = 0x811c9dc5 ^ seed;
  for (const byte of Buffer.from(name)) state = Math.imul(state ^ byte, 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A new array in an order that depends on the seed alone. */
export const shuffled = <Item>(items: readonly Item[], seed: number): readonly Item[] => {
  const random = seededRandom(seed, "order");
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
};
