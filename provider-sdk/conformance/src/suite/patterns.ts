import { UsageError } from "../errors.ts";

/** Dotted ids in which `*` stands for one segment and `**` for any number of them. */
export interface Pattern {
  readonly text: string;
  readonly matches: (id: string) => boolean;
}

/** Reads a pattern; refuses one that matches none of the ids there are. */
export const parsePattern = (text: string, ids: readonly string[]): Pattern => {
  if (!/^(?:\*\*|\*|[a-z0-9_-]+)(?:\.(?:\*\*|\*|[a-z0-9_-]+))*$/.test(text))
    throw new UsageError(`"${text}" is no pattern of check ids; write err.*, err.** or err.frame.garbage`);
  const source = text
    .split(".")
    .map((segment) => (segment === "**" ? ".+" : segment === "*" ? "[^.]+" : segment))
    .join("\\.")
    // `a.**` means a itself, too.
    .replace(/\\\.\.\+$/, "(?:\\..+)?");
  const expression = new RegExp(`^${source}$`);
  const pattern = { text, matches: (id: string) => expression.test(id) };
  if (!ids.some((id) => pattern.matches(id)))
    throw new UsageError(`no check matches "${text}"; ${insteadOf(text, ids)}`);
  return pattern;
};

/** What may have been meant. */
const insteadOf = (text: string, ids: readonly string[]): string => {
  const [category = ""] = text.split(".");
  if (ids.some((id) => id.startsWith(`${category}.`))) return `all of ${category} are "${category}.**"`;
  const categories = [...new Set(ids.map((id) => id.replace(/\..*/, "")))];
  return `ids begin with ${categories.join(", ")}; see: cloudwire-conformance list`;
};

/** Whether any of the patterns matches. */
export const matchesAny = (patterns: readonly Pattern[], id: string): boolean =>
  patterns.some((pattern) => pattern.matches(id));
