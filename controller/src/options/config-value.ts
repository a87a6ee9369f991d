import { defaultText, type Flag, type Shape } from "./flag.ts";

/** What stands in a configuration file for each shape: the type, and how a message says it. */
const TAKES: Readonly<Record<Shape["kind"], readonly [type: string, words: string]>> = {
  boolean: ["boolean", "true or false"],
  number: ["number", "a number"],
  duration: ["string", "a duration like 300ms, 15s or 1m30s"],
  text: ["string", "a text: put it in quotes"],
  choice: ["string", "a text: put it in quotes"],
  list: ["string", "a text: put it in quotes"],
};

/** What is wrong with the type of a value, as opposed to its text: YAML's `010` is a number, and a name only in quotes. */
export function misfit(value: unknown, shape: Shape): string | undefined {
  if (value === null || value === undefined) return "has no value: give it one, or take the line out";
  if (Array.isArray(value)) {
    if (shape.kind !== "list") return "is a list, but takes one value";
    const other = value.findIndex((item) => typeof item !== "string");
    return other < 0 ? undefined : `item ${other + 1} is not a text: put it in quotes`;
  }
  if (typeof value === "object") return "is neither a text, a number nor a list of them";
  const [type, words] = TAKES[shape.kind];
  return typeof value === type ? undefined : `is ${shown(value)}, but takes ${words}`;
}

/** The value as a command line would have it. There an empty text empties a list that has a default. */
export function textsOf(value: unknown, flag: Flag<unknown>): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.length === 0 && defaultText(flag) !== "" ? [""] : items.map((item) => String(item));
}

function shown(value: unknown): string {
  return typeof value === "string" ? `the text "${value}"` : JSON.stringify(value);
}
