import { isRecord } from "../../client/json.ts";

/** One place at which two values differ. */
export interface FlatDifference {
  readonly path: string;
  readonly wanted: unknown;
  readonly got: unknown;
}

/** Everywhere that two JSON values differ, down to their leaves. */
export function flatDifferences(wanted: unknown, got: unknown): readonly FlatDifference[] {
  const left = new Map(leaves(wanted, ""));
  const right = new Map(leaves(got, ""));
  const paths = [...new Set([...left.keys(), ...right.keys()])];
  return paths
    .filter((path) => left.get(path) !== right.get(path))
    .map((path) => ({ path, wanted: left.get(path), got: right.get(path) }));
}

function leaves(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => leaves(item, `${path}[${index}]`));
  if (!isRecord(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, item]) => leaves(item, path === "" ? key : `${path}.${key}`));
}
