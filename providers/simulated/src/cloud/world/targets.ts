import { createHash } from "node:crypto";
import { type Database, textOf } from "../store/database.ts";
import type { World } from "./world.ts";

/** A set is one text: 200 load balancers × 15,000 targets are 200 rows, not 3 million. */
const separator = "\n";

/** The instances a load balancer sends to, in ascending order of ids. */
export const targetsOf = (database: Database, loadBalancerId: string): string[] => {
  const row = database.get("SELECT instances FROM targets WHERE load_balancer = ?", loadBalancerId);
  const text = row ? textOf(row, "instances") : "";
  return text === "" ? [] : text.split(separator);
};

export type TargetChange =
  | { readonly targets: readonly string[] }
  | { readonly add: readonly string[]; readonly remove: readonly string[] };

/** What a load balancer's record says of its targets. */
export interface TargetSummary {
  readonly targetCount: number;
  readonly targetsDigest: string;
}

export interface ChangedTargets {
  /** Undefined: the set is as it was. */
  readonly summary: TargetSummary | undefined;
  /** Ids asked for that are of no instance; those that were targets before stay until they are taken out. */
  readonly ignored: string[];
}

export const changeTargets = (
  world: World,
  account: string,
  loadBalancerId: string,
  change: TargetChange,
): ChangedTargets => {
  const have = new Set(targetsOf(world.database, loadBalancerId));
  const wanted = wantedSet(have, change);
  const added = [...wanted].filter((id) => !have.has(id));
  const known = world.store.existing("instance", account, added, "terminated");
  const ignored = added.filter((id) => !known.has(id));
  const next = [...wanted].filter((id) => have.has(id) || known.has(id));
  if (next.length === have.size && added.length === ignored.length) return { summary: undefined, ignored };
  const targets = next.toSorted((left, right) => (left < right ? -1 : 1));
  world.database.run(
    "INSERT INTO targets (load_balancer, instances) VALUES (?1, ?2) ON CONFLICT (load_balancer) DO UPDATE SET instances = ?2",
    loadBalancerId,
    targets.join(separator),
  );
  return { summary: summaryOf(targets), ignored };
};

const wantedSet = (have: ReadonlySet<string>, change: TargetChange): ReadonlySet<string> => {
  if ("targets" in change) return new Set(change.targets);
  const wanted = new Set([...have, ...change.add]);
  for (const id of change.remove) wanted.delete(id);
  return wanted;
};

export const summaryOf = (targets: readonly string[]): TargetSummary => {
  const text = targets.map((target) => `${target}\n`).join("");
  return { targetCount: targets.length, targetsDigest: createHash("sha256").update(text).digest("hex") };
};

export const forgetTargets = (database: Database, loadBalancerId: string): void => {
  database.run("DELETE FROM targets WHERE load_balancer = ?", loadBalancerId);
};
