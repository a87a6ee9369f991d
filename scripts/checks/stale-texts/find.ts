import { type Expression, parseSync, Visitor } from "oxc-parser";

/** A text that a test expects from a program. */
export interface ExpectedText {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** Text between the variable parts. */
  readonly parts: readonly string[];
  readonly isPattern: boolean;
}

/** Functions that compare output with a text. */
const COMPARISONS = new Set(["includes", "stringContaining", "toContain", "toBe", "toThrow", "startsWith"]);
/** Properties that hold the text of a log line, an event or a condition. */
const MESSAGES = new Set(["msg", "message"]);

/** Texts that are compared with output: arguments of comparisons, messages, and all regular expressions. */
export function expectedTexts(path: string, source: string): readonly ExpectedText[] {
  const found: ExpectedText[] = [];
  const add = (start: number, text: string, parts: readonly string[], isPattern: boolean): void => {
    found.push({ path, line: source.slice(0, start).split("\n").length, text, parts, isPattern });
  };
  const addLiteral = (node: Expression | { readonly type: "SpreadElement" } | undefined): void => {
    if (node?.type === "Literal" && typeof node.value === "string") add(node.start, node.value, [node.value], false);
    if (node?.type === "TemplateLiteral") {
      const parts = node.quasis.map(({ value }) => value.cooked ?? "");
      add(node.start, parts.join("…"), parts, false);
    }
  };
  new Visitor({
    CallExpression: ({ callee, arguments: given }) => {
      const isComparison =
        callee.type === "MemberExpression" &&
        callee.property.type === "Identifier" &&
        COMPARISONS.has(callee.property.name);
      if (isComparison) addLiteral(given[0]);
    },
    Property: ({ key, value }) => {
      if (key.type === "Identifier" && MESSAGES.has(key.name) && value.type !== "AssignmentPattern") {
        if (value.type === "Literal" || value.type === "TemplateLiteral") addLiteral(value);
      }
    },
    Literal: (node) => {
      if ("regex" in node) add(node.start, node.regex.pattern, partsOfPattern(node.regex.pattern), true);
    },
  }).visit(parseSync(path, source).program);
  return found;
}

/** The constant parts of a regular expression. */
function partsOfPattern(pattern: string): readonly string[] {
  return pattern
    .replaceAll(/\\([./()[\]{}"-])/g, (_, escaped: string) => (/[()[\]{}]/.test(escaped) ? " " : escaped))
    .split(/\\.|\[[^\]]*\]|\(\?[:=!<]*|[()|^$?*+{}]|\.(?=[*+])/);
}

/** Three consecutive words of a text. */
function windowsOf(text: string): readonly string[] {
  const words = text.match(/[A-Za-z][A-Za-z'_-]+/g) ?? [];
  return words.slice(2).map((word, index) => `${words[index] ?? ""} ${words[index + 1] ?? ""} ${word}`);
}

/** Sources by the windows that they contain. */
export function indexOf(sources: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const index = new Map<string, Set<string>>();
  for (const [path, source] of sources) {
    for (const window of windowsOf(
      source.replaceAll(/["'`]\s*\+\s*["'`]/g, "").replaceAll(/\$\{[^}]*\}|%[sdvwq]/g, " … "),
    )) {
      const paths = index.get(window);
      if (paths === undefined) index.set(window, new Set([path]));
      else paths.add(path);
    }
  }
  return index;
}

/** Names in quotes, and addresses. */
const VARIABLE = /\\?"[^"]*"|https?:\S+/;

/** Composed messages have parts from several sources. */
const MIN_SHARE = 0.3;
/** In windows: shorter texts are names rather than sentences, and patterns are mostly parts of them. */
const MIN_LENGTH = { text: 2, pattern: 3 };

/** Whether no source contains the text, or a large part of it. */
export function isStale({ parts, isPattern }: ExpectedText, index: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const windows = parts.flatMap((part) => part.split(VARIABLE)).flatMap(windowsOf);
  if (windows.length < (isPattern ? MIN_LENGTH.pattern : MIN_LENGTH.text)) return false;
  const counts = new Map<string, number>();
  for (const path of windows.flatMap((window) => [...(index.get(window) ?? [])]))
    counts.set(path, (counts.get(path) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return isPattern ? most === 0 : most / windows.length < MIN_SHARE;
}
