import type { ObjectKind, ObjectRef, ObjectRow } from "@cloudwire/operator-api";
import { parseRef } from "./object-name.ts";

/** A row, with what lists ask of it again and again. */
export interface Entry {
  readonly row: ObjectRow;
  readonly kind: ObjectKind;
  readonly name: string;
  /** Compared as text it puts worker-2 before worker-10. */
  readonly order: string;
  /** What a search looks at. */
  readonly text: string;
}

export type Entries = ReadonlyMap<ObjectRef, Entry>;

export const NO_ENTRIES: Entries = new Map();

/** undefined: of a kind that this page does not know. */
export function entryOf(row: ObjectRow): Entry | undefined {
  const object = parseRef(row.object);
  if (object === undefined) return undefined;
  const { kind, name } = object;
  const text = `${name} ${row.reason ?? ""} ${row.summary} ${row.provider}`.toLowerCase();
  return { row, kind, name, order: naturalOrder(name), text };
}

/** With what is new or changed, and without what is gone. The entries that were given stay as they are. */
export function withRows(entries: Entries, set: readonly ObjectRow[], gone: readonly ObjectRef[]): Entries {
  const next = new Map(entries);
  for (const object of gone) next.delete(object);
  for (const row of set) {
    const entry = entryOf(row);
    if (entry !== undefined) next.set(row.object, entry);
  }
  return next;
}

const DIGITS = 10;

function naturalOrder(name: string): string {
  return name.replaceAll(/\d+/g, (digits) => digits.padStart(DIGITS, "0"));
}
