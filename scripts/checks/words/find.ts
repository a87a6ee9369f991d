import type { WordRule } from "./rules.ts";

/** One use of a word that a rule names. */
export interface Place {
  readonly path: string;
  /** 1 for the first line; 0 for the path itself. */
  readonly line: number;
  readonly word: string;
  readonly use: string;
  /** Why it stays, when it does. */
  readonly reason?: string;
}

/** Words that stay in files that cannot carry a comment. */
export interface Exception {
  readonly path: string;
  readonly words: readonly string[];
  readonly reason: string;
}

/** A comment that excuses its line, or the line after it when it is alone on its own. */
const EXCUSE = /words-ok: (.+?)(?:\s*(?:\*\/|-->|#\}))?$/;

const COMMENT_ONLY = /^\s*(?:\/\/|#|\{?\/\*|<!--|\{#)\s*words-ok: /;

/** Every place in a file that a rule names, those with a reason to stay included. */
export function findWords(
  path: string,
  text: string,
  rules: readonly WordRule[],
  exceptions: readonly Exception[] = [],
): readonly Place[] {
  const matchers = rules.filter(({ notIn }) => notIn?.test(path) !== true).map(matcherOf);
  const lines = text.split("\n");
  return [path.replace(/[/.-]/g, " "), ...lines].flatMap((content, line) => {
    const excuse = excuseOf(content, line < 2 ? undefined : lines[line - 2]);
    return matchers.flatMap(({ find, use }) =>
      find(content).map((word): Place => {
        const reason = excuse ?? exceptions.find((exception) => isExcused(exception, path, word))?.reason;
        return { path, line, word, use, ...(reason === undefined ? {} : { reason }) };
      }),
    );
  });
}

interface Matcher {
  readonly use: string;
  readonly find: (content: string) => readonly string[];
}

function matcherOf({ word, use, in: where, not = [] }: WordRule): Matcher {
  const pattern = new RegExp(`\\b(?:${word})\\b`, "gi");
  const correct = not.map((longer) => new RegExp(`\\b(?:${longer})\\b`, "gi"));
  return {
    use,
    find: (content) => {
      const rest = correct.reduce((line, longer) => line.replaceAll(longer, ""), content);
      return (where === "text" ? rest : splitIdentifiers(rest)).match(pattern) ?? [];
    },
  };
}

/** `judgeNode`, `node_judge` and `JUDGE` become words. */
function splitIdentifiers(line: string): string {
  return line
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replace(/_/g, " ");
}

function excuseOf(content: string, previous: string | undefined): string | undefined {
  const own = EXCUSE.exec(content)?.[1];
  if (own !== undefined) return own;
  return previous !== undefined && COMMENT_ONLY.test(previous) ? EXCUSE.exec(previous)?.[1] : undefined;
}

function isExcused(exception: Exception, path: string, word: string): boolean {
  return exception.path === path && exception.words.includes(word.toLowerCase());
}
