import { type Document, type ErrorCode, LineCounter, parseDocument } from "yaml";
import { messageOf } from "../util/errors.ts";
import { type JsonRecord, isRecord } from "../util/json.ts";

/** A configuration file of Kubernetes. */
export interface FileKind {
  readonly kind: string;
  readonly group: string;
  /** Without `apiVersion` and `kind`. */
  readonly fields: ReadonlySet<string>;
}

const VERSIONS = ["v1", "v1beta1", "v1alpha1"] as const;

/** Reports all problems, except those of field values. */
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
    // The error of the library would quote the alias.
    return { document: undefined, problems: ["has an alias (*) without an anchor, or too many aliases"] };
  }
  if (!isRecord(document)) return { document: undefined, problems: [`contains no ${kind}`] };
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

/** @param where path of the record, with a dot after it */
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

export function unless(holds: boolean, problem: string): readonly string[] {
  return holds ? [] : [problem];
}

/** One YAML or JSON document. Mistakes do not quote the file, which may be the wrong one. */
export type YamlReading =
  | { readonly kind: "document"; readonly document: Document.Parsed; readonly lines: LineCounter }
  | { readonly kind: "malformed"; readonly mistakes: readonly YamlMistake[] };

export interface YamlMistake {
  /** From 1. */
  readonly line: number;
  readonly what: string;
}

/** For errors in which the library quotes the file (yaml 2.9, compose/ and doc/directives.js), or that are hard to understand. */
const OWN_WORDS: ReadonlyMap<ErrorCode, string> = new Map([
  ["UNEXPECTED_TOKEN", "unexpected token"],
  ["BAD_DIRECTIVE", "a line that begins with % is not a YAML directive"],
  ["BAD_DQ_ESCAPE", "a backslash in double quotes begins an unknown escape"],
  ["BAD_PROP_ORDER", "an anchor or a tag is in the wrong place"],
  ["TAG_RESOLVE_FAILED", "an unknown tag (!)"],
  ["BAD_COLLECTION_TYPE", "a tag (!) that does not match its value"],
  ["MULTIPLE_DOCS", "begins a second document; only one is allowed"],
]);

/** Never throws; reports all mistakes. */
export function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  // "error" writes no warnings to standard error, and "silent" would ignore a second document.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  if (document.errors.length === 0) return { kind: "document", document, lines };
  const mistakes = document.errors.map(({ pos, code, message }) => ({
    line: lines.linePos(pos[0]).line,
    what: OWN_WORDS.get(code) ?? message,
  }));
  return { kind: "malformed", mistakes };
}

/** Throws if it cannot read the file. */
export type ReadText = (path: string) => string;

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
