import { type ObjectKind, STATES, type State } from "@cloudwire/operator-api";
import type { Entries, Entry } from "./entries.ts";

/** `all`: of every kind, for a search over everything. */
export type ListKind = ObjectKind | "all";

/** What a list shows. */
export interface Selection {
  readonly kind: ListKind;
  /** Words, each of which must occur. */
  readonly search: string;
  readonly state: State | undefined;
  /** "": no owner. undefined: any. */
  readonly provider: string | undefined;
}

/** Most urgent first. */
const ATTENTION: readonly State[] = ["blocked", "waiting", "progressing", "ok", "unmanaged"];

const RANKS = new Map(ATTENTION.map((state, rank) => [state, rank] as const));

/** By state, most urgent first, then by name. */
export function selectEntries(entries: Entries, { kind, search, state, provider }: Selection): readonly Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Entry[] = [];
  for (const entry of entries.values()) {
    if (kind !== "all" && entry.kind !== kind) continue;
    if (state !== undefined && entry.row.state !== state) continue;
    if (provider !== undefined && entry.row.provider !== provider) continue;
    if (words.every((word) => entry.text.includes(word))) found.push(entry);
  }
  return found.sort(compareEntries);
}

function compareEntries(a: Entry, b: Entry): number {
  const byState = rankOf(a.row.state) - rankOf(b.row.state);
  if (byState !== 0) return byState;
  if (a.order === b.order) return 0;
  return a.order < b.order ? -1 : 1;
}

/** What a newer controller may say is shown last. */
function rankOf(state: State): number {
  return RANKS.get(state) ?? ATTENTION.length;
}

/** Providers of the rows of a kind, sorted; "" if some have no owner. */
export function providersOf(entries: Entries, kind: ListKind): readonly string[] {
  const names = new Set<string>();
  for (const entry of entries.values()) if (kind === "all" || entry.kind === kind) names.add(entry.row.provider);
  return [...names].toSorted();
}

export function isState(text: string | null | undefined): text is State {
  return STATES.some((state) => state === text);
}

/** Of all states together. */
export function totalOf(counts: Readonly<Record<State, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
