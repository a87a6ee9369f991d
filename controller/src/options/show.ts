import { configPaths } from "./config-paths.ts";
import { flagName, flags, type Options } from "./options.ts";

/** A tree of JSON. */
export interface Tree {
  [name: string]: unknown;
}

/** The settings in force, in the shape of the configuration file (`/configz`). Durations are in milliseconds. */
export function configTree(options: Options): Tree {
  const values = new Map<string, unknown>(Object.entries(options));
  const tree: Tree = {};
  for (const [path, key] of configPaths) put(tree, path.split("."), jsonOf(values.get(key)));
  return tree;
}

/** Each flag with its value in force, a line each, sorted (`/flagz`). */
export function flagLines(options: Options): readonly string[] {
  const values = new Map<string, unknown>(Object.entries(options));
  return Object.keys(flags)
    .map((key) => `${flagName(key)}=${textOf(jsonOf(values.get(key)))}`)
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

function jsonOf(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, jsonOf(item)]));
  return value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
