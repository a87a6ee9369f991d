import { parseArgs } from "node:util";
import { UserError } from "../lib/user-error.ts";
import type { Batch, Tier } from "./batches.ts";

export interface Selection {
  readonly suites: readonly string[];
  /** What a run without `--only` does not include, with the command that does. */
  readonly leftOut: readonly LeftOut[];
  /** A suite that cannot run here is a failure. */
  readonly mustRunAll: boolean;
  /** Its results are recorded for `npm run check` to show. */
  readonly isRecorded: boolean;
}

export interface LeftOut {
  readonly suites: readonly string[];
  readonly command: string;
}

/** Which suites run: those that `--only` names, else those of the tiers that the arguments and the environment ask for. */
export function selectSuites(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  batches: readonly Pick<Batch, "suites" | "tier">[],
): Selection {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", multiple: true },
      all: { type: "boolean", default: false },
      long: { type: "boolean", default: false },
    },
  });
  const ofTier = (tier: Tier): readonly string[] =>
    batches.filter((batch) => batch.tier === tier).flatMap(({ suites }) => suites);
  const named = namedSuites(values.only ?? [], values.long ? ofTier("long") : batches.flatMap(({ suites }) => suites));
  const mustRunAll = env["CI"] === "true" || env["CLOUDWIRE_NO_SKIP"] === "1";
  const rest = { mustRunAll, isRecorded: values.long };
  if (named.length > 0) return { ...rest, suites: named, leftOut: [] };
  if (values.long) return { ...rest, suites: ofTier("long"), leftOut: [] };
  const long: LeftOut = { suites: ofTier("long"), command: "npm run test:long" };
  const full: LeftOut = { suites: ofTier("full"), command: "npm run test:all" };
  if (mustRunAll || values.all) return { ...rest, suites: [...ofTier("quick"), ...full.suites], leftOut: [long] };
  return { ...rest, suites: ofTier("quick"), leftOut: [full, long] };
}

function namedSuites(only: readonly string[], known: readonly string[]): readonly string[] {
  const names = only.flatMap((text) => text.split(","));
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UserError(`no suite "${unknown.join('", "')}"; the suites are: ${known.join(", ")}`);
  return names;
}
