import { isRecord } from "../../client/json.ts";
import { count, type Counts, HIDDEN, hideInText, kindByFlag, kindByKey } from "./secret-patterns.ts";

/** A text without what looks like a secret, and how often each kind was found. */
export interface Redacted {
  readonly text: string;
  readonly found: Readonly<Counts>;
}

/** Deeper than anything that the controller or a cloud writes. */
const MAX_DEPTH = 64;
const TOO_DEEP = "nested too deeply to look into";

/**
 * Takes out what looks like a secret; what is left is as it was. JSON, as a whole, by lines, or in a text of other JSON, is looked through
 * value by value, and stays JSON.
 */
export function redact(text: string): Redacted {
  const found: Counts = {};
  return { text: hidden(text, found, 0), found };
}

/** Kinds of secrets that a text still has. */
export function secretsIn(text: string): readonly string[] {
  return Object.keys(redact(text).found);
}

function hidden(text: string, found: Counts, depth: number): string {
  return hiddenInJson(text, found, depth) ?? hiddenInLines(text, found, depth);
}

/** Lines of JSON each by itself; what stands between them as one text, for a secret may take several lines. */
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

/** `kind`: what the texts of a list are by its name. */
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

/** A value whose place says what kind of secret it is, if it says so: a text, a number, or a list of them; the parts of an object are looked at. */
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

/** Zero: all on one line. */
function indentOf(text: string): number {
  const [, spaces = ""] = /^\s*[[{]\r?\n( +)/.exec(text) ?? [];
  return spaces.length;
}
