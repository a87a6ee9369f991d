import { isRecord } from "../../client/json.ts";
import { count, type Counts, HIDDEN, hideInText, kindByFlag, kindByKey } from "./secret-patterns.ts";

/** A redacted text, with the number of secrets of each kind. */
export interface Redacted {
  readonly text: string;
  readonly found: Readonly<Counts>;
}

/** Deeper than anything that the controller or a cloud writes. */
const MAX_DEPTH = 64;
const TOO_DEEP = "nested too deeply to check";

/**
 * Redacts everything that looks like a secret, and changes nothing else. JSON stays JSON: it is checked value by value, also in lines of a
 * text and in strings of other JSON.
 */
export function redact(text: string): Redacted {
  const found: Counts = {};
  return { text: hidden(text, found, 0), found };
}

/** Kinds of secrets that a text still contains. */
export function secretsIn(text: string): readonly string[] {
  return Object.keys(redact(text).found);
}

function hidden(text: string, found: Counts, depth: number): string {
  return hiddenInJson(text, found, depth) ?? hiddenInLines(text, found, depth);
}

/** JSON lines are checked one by one, other lines together: a secret may span several lines. */
function hiddenInLines(text: string, found: Counts, depth: number): string {
  const parts: string[] = [];
  let between: string[] = [];
  for (const line of text.split(/(?<=\n)/)) {
    const json = hiddenInJson(line, found, depth);
    if (json === undefined) between.push(line);
    else {
      parts.push(hideInText(between.join(""), found), json);
      between = [];
    }
  }
  return [...parts, hideInText(between.join(""), found)].join("");
}

/** undefined: not JSON of objects or lists. Reformatted only if something was redacted. */
function hiddenInJson(text: string, found: Counts, depth: number): string | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const left = hiddenInValue(value, found, depth + 1);
  if (left === value) return text;
  const [space = ""] = /\s*$/.exec(text) ?? [];
  return `${JSON.stringify(left, undefined, indentOf(text))}${space}`;
}

/** @param kind kind of secret that the strings of a list are, by the name of the list */
function hiddenInValue(value: unknown, found: Counts, depth: number, kind?: string): unknown {
  if (typeof value === "string") return hidden(value, found, depth);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return hide(TOO_DEEP, found);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const left = items.map((item, index) => hiddenUnder(kindByFlag(items[index - 1]) ?? kind, item, found, depth));
    return left.every((item, index) => item === items[index]) ? value : left;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const left = entries.map(
    ([key, inner]) => [hideInText(key, found), hiddenUnder(kindByKey(key), inner, found, depth)] as const,
  );
  return left.every(([key, inner], index) => key === entries[index]?.[0] && inner === entries[index]?.[1])
    ? value
    : Object.fromEntries(left);
}

/** A string or number under a key of a secret is redacted; objects and lists are checked part by part. */
function hiddenUnder(kind: string | undefined, value: unknown, found: Counts, depth: number): unknown {
  const isPlain = (typeof value === "string" && value !== "") || typeof value === "number";
  if (kind === undefined || !isPlain) return hiddenInValue(value, found, depth + 1, kind);
  return value === HIDDEN ? value : hide(kind, found);
}

function hide(kind: string, found: Counts): string {
  count(found, kind);
  return HIDDEN;
}

function parsed(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** 0: on one line. */
function indentOf(text: string): number {
  const [, spaces = ""] = /^\s*[[{]\r?\n( +)/.exec(text) ?? [];
  return spaces.length;
}
