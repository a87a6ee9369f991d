import { type Document, type ErrorCode, LineCounter, parseDocument } from "yaml";
import { messageOf } from "../util/errors.ts";
import { type JsonRecord, isRecord } from "../util/json.ts";

/** A kind of configuration file of Kubernetes'. */
export interface FileKind {
  readonly kind: string;
  readonly group: string;
  /** All fields but `apiVersion` and `kind`. */
  readonly fields: ReadonlySet<string>;
}

const VERSIONS = ["v1", "v1beta1", "v1alpha1"] as const;

/** What such a file says, and what is wrong with it but for the values of its fields. `document` undefined: it says nothing at all. */
export function readKubernetesFile(
  text: string,
  { kind, group, fields }: FileKind,
): { readonly document: JsonRecord | undefined; readonly problems: readonly string[] } {
  const yaml = readYaml(text);
  if (yaml.kind === "malformed") {
    return { document: undefined, problems: yaml.mistakes.map(({ line, what }) => `line ${line}: ${what}`) };
  }
  let document: unknown;
  try {
    document = yaml.document.toJS();
  } catch {
    // Without its words, which quote the alias.
    return { document: undefined, problems: ["has an alias (*) of something that is not there, or too many of them"] };
  }
  if (!isRecord(document)) return { document: undefined, problems: [`holds no ${kind}`] };
  const versions = VERSIONS.map((version) => `${group}/${version}`);
  const problems = [
    ...unknownFields(document, new Set(["apiVersion", "kind", ...fields]), kind),
    ...unless(document["kind"] === kind, `kind: is "${String(document["kind"])}", not ${kind}`),
    ...unless(
      versions.includes(String(document["apiVersion"])),
      `apiVersion: is "${String(document["apiVersion"])}", not one of ${versions.join(", ")}`,
    ),
  ];
  return { document, problems };
}

/** Fields of a record that nobody knows; `where` is the record's own path with a dot after it. */
export function unknownFields(
  record: JsonRecord,
  known: ReadonlySet<string>,
  kind: string,
  where = "",
): readonly string[] {
  return Object.keys(record)
    .filter((field) => !known.has(field))
    .map((field) => `${where}${field}: is not a field of ${kind}`);
}

/** The problem, if there is one. */
export function unless(holds: boolean, problem: string): readonly string[] {
  return holds ? [] : [problem];
}

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

/** Reads a file that a setting names; throws when it cannot. */
export type ReadText = (path: string) => string;

/** The text of such a file, or why it cannot be read. */
export type FileText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly what: string };

/** Never throws. */
export function readFileText(path: string, readText: ReadText): FileText {
  try {
    return { kind: "text", text: readText(path) };
  } catch (error) {
    return { kind: "unreadable", what: `cannot be read: ${messageOf(error)}` };
  }
}
