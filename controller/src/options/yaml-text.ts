import { type Document, type ErrorCode, LineCounter, parseDocument } from "yaml";

/** One document of YAML or JSON, or what keeps it from being one; nothing of the file itself is in that, for it may be the wrong file. */
export type YamlReading =
  | { readonly kind: "document"; readonly document: Document.Parsed; readonly lines: LineCounter }
  | { readonly kind: "malformed"; readonly mistakes: readonly YamlMistake[] };

export interface YamlMistake {
  /** From 1. */
  readonly line: number;
  readonly what: string;
}

/** The library quotes the file in these (yaml 2.9, compose/ and doc/directives.js), or has words for programmers only. */
const OWN_WORDS: ReadonlyMap<ErrorCode, string> = new Map([
  ["UNEXPECTED_TOKEN", "something unexpected stands here"],
  ["BAD_DIRECTIVE", "a line that begins with % is no directive of YAML"],
  ["BAD_DQ_ESCAPE", "a backslash in double quotes begins nothing that YAML knows"],
  ["BAD_PROP_ORDER", "an anchor or a tag stands in the wrong place"],
  ["TAG_RESOLVE_FAILED", "a tag (!) that YAML does not know"],
  ["BAD_COLLECTION_TYPE", "a tag (!) that does not fit what follows"],
  ["MULTIPLE_DOCS", "begins a second document; the file has one"],
]);

/** Never throws; every mistake is found. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  // "error" writes no warnings to standard error, and "silent" would take a second document for none.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  if (document.errors.length === 0) return { kind: "document", document, lines };
  const mistakes = document.errors.map(({ pos, code, message }) => ({
    line: lines.linePos(pos[0]).line,
    what: OWN_WORDS.get(code) ?? message,
  }));
  return { kind: "malformed", mistakes };
}
