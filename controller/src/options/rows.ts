import type { Flag } from "./flag.ts";
import { flagName, flags } from "../app/options.ts";

/** A setting and its key in the options. */
export interface Row {
  readonly key: string;
  readonly flag: Flag<unknown>;
}

/** Every setting by the name of its flag. */
export const rows: ReadonlyMap<string, Row> = new Map(
  Object.entries(flags).map(([key, flag]) => [flagName(key), { key, flag }]),
);

/** The setting with that key in the options. */
export function flagOfKey(key: string): Flag<unknown> | undefined {
  return rows.get(flagName(key))?.flag;
}
