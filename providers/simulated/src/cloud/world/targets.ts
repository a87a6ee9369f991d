import { type Database, integerOf, textOf } from "../store/database.ts";
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
): { readonly changed: boolean; readonly ignored: string[]; readonly count: number } => {
  const { database } = world;
  const known = world.store.existing("instance", account, change.add, "terminated");
  const before = countTargets(database, loadBalancerId);
  let changes = 0;
  for (const id of change.remove) {
    changes += database.run("DELETE FROM targets WHERE load_balancer = ? AND instance = ?", loadBalancerId, id);
  }
  for (const id of known) {
    const sql = "INSERT OR IGNORE INTO targets (load_balancer, instance) VALUES (?, ?)";
    changes += database.run(sql, loadBalancerId, id);
  }
  const count = changes === 0 ? before : countTargets(database, loadBalancerId);
  return { changed: changes > 0, ignored: change.add.filter((id) => !known.has(id)), count };
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

const countTargets = (database: Database, loadBalancerId: string): number => {
  const row = database.get("SELECT count(*) AS count FROM targets WHERE load_balancer = ?", loadBalancerId);
  return row ? integerOf(row, "count") : 0;
};
