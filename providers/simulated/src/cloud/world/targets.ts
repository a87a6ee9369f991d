import { createHash } from "node:crypto";
import { type Database, textOf } from "../store/database.ts";
import type { World } from "./world.ts";

/** The instances a load balancer sends to, in the order of ids. */
export const targetsOf = (database: Database, loadBalancerId: string): string[] =>
  database
    .all("SELECT instance FROM targets WHERE load_balancer = ? ORDER BY instance", loadBalancerId)
    .map((row) => textOf(row, "instance"));

/** Writes only what differs; answers whether anything did, and which ids are of no instance. */
export const changeTargets = (
  world: World,
  account: string,
  loadBalancerId: string,
  change: { readonly add: readonly string[]; readonly remove: readonly string[] },
): { readonly changed: boolean; readonly ignored: string[] } => {
  const { database } = world;
  const known = world.store.existing("instance", account, change.add, "terminated");
  let changes = 0;
  for (const id of change.remove) {
    changes += database.run("DELETE FROM targets WHERE load_balancer = ? AND instance = ?", loadBalancerId, id);
  }
  for (const id of known) {
    const sql = "INSERT OR IGNORE INTO targets (load_balancer, instance) VALUES (?, ?)";
    changes += database.run(sql, loadBalancerId, id);
  }
  return { changed: changes > 0, ignored: change.add.filter((id) => !known.has(id)) };
};

/** The whole set as a change against what is there. */
export const replacement = (
  database: Database,
  loadBalancerId: string,
  wanted: readonly string[],
): { readonly add: readonly string[]; readonly remove: readonly string[] } => {
  const have = new Set(targetsOf(database, loadBalancerId));
  const want = new Set(wanted);
  return { add: [...want].filter((id) => !have.has(id)), remove: [...have].filter((id) => !want.has(id)) };
};

export const forgetTargets = (database: Database, loadBalancerId: string): void => {
  database.run("DELETE FROM targets WHERE load_balancer = ?", loadBalancerId);
};

/** What a load balancer's record says of its targets. */
export const summaryOf = (
  targets: readonly string[],
): { readonly targetCount: number; readonly targetsDigest: string } => {
  const digest = createHash("sha256");
  for (const target of targets) digest.update(`${target}\n`);
  return { targetCount: targets.length, targetsDigest: digest.digest("hex") };
};
