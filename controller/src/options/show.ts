import type { Flag } from "./flag.ts";
import { configPaths } from "../app/config-paths.ts";
import { flagName, flags, type Options } from "../app/options.ts";
import { flagOfKey } from "./rows.ts";

/** A tree of JSON. */
export interface Tree {
  [name: string]: unknown;
}

/** The settings in force as a configuration file would have them (`/configz`). */
export function configTree(options: Options): Tree {
  const values = new Map<string, unknown>(Object.entries(options));
  const tree: Tree = {};
  for (const [path, key] of configPaths) put(tree, path.split("."), flagOfKey(key)?.write(values.get(key)));
  return tree;
}

/** Each flag with its value in force, a line each, sorted (`/flagz`). */
export function flagLines(options: Options): readonly string[] {
  const values = new Map<string, unknown>(Object.entries(options));
  return Object.entries(flags)
    .map(([key, flag]: [string, Flag<unknown>]) => `${flagName(key)}=${String(flag.write(values.get(key)))}`)
    .toSorted();
}

function put(tree: Tree, [name = "", ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) {
    tree[name] = value;
    return;
  }
  const branch = tree[name];
  const next: Tree = isTree(branch) ? branch : {};
  tree[name] = next;
  put(next, below, value);
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
