import type { Exception } from "./find.ts";

/** How many words may be excused in the whole tree, by comments and by the list below. */
export const ALLOWED_PLACES = 200;

/** Files whose words are not ours to choose, or that record the past. */
export const SKIPPED_FILES: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /(?:^|\/)gen\/|\.pb\.go$|_pb2/, reason: "generated: its source is checked" },
  { pattern: /(?:^|\/)(?:go\.sum|package-lock\.json)$|\.svg$/, reason: "not text that a person reads" },
  { pattern: /(?:^|\/)LICENSE[^/]*$/, reason: "the license's own text" },
  { pattern: /^CHANGELOG\.md$/, reason: "history: what a release was called by then" },
  { pattern: /^\.git-blame-ignore-revs$/, reason: "subjects of earlier commits" },
  { pattern: /^scripts\/checks\/words\//, reason: "the rules themselves" },
];

/** Words that stay in files that cannot carry a comment, or where a third party chose them. */
export const EXCEPTIONS: readonly Exception[] = [];
