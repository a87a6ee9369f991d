import { type LineCounter, type YAMLMap, isMap, isScalar, isSeq } from "yaml";
import { type FileText, readYaml } from "./text-file.ts";
import { type Flag, NOTHING_SAID, type Said, type Shape, defaultText } from "./flag.ts";
import { nearest, plain } from "./suggestion.ts";
import type { FlagTable } from "./table.ts";
import { unusedPaths } from "./upstream-flags.ts";

/** One entry of the file, wherever it stands. */
interface Entry {
  /** `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
}

type Table = Pick<FlagTable<unknown>, "byName" | "byPath">;

/** The settings of the configuration file at `path`, YAML or JSON. */
export function readConfigFile(table: Table, path: string, file: FileText): Said {
  if (file.kind === "unreadable") return { ...refused(path, file.what), lost: "all" };
  const yaml = readYaml(file.text);
  if (yaml.kind === "malformed") {
    const problems = yaml.mistakes.map(({ line, what }) => ({ where: `${path}:${line}`, what }));
    return { ...NOTHING_SAID, problems, lost: "all" };
  }
  const { document, lines } = yaml;
  if (document.contents === null || !isMap(document.contents)) {
    return { ...refused(path, `holds no ${KIND}`), lost: "all" };
  }
  const sections = sectionsOf(table);
  const leaves = entriesOf(document.contents, "", { lines, sections });
  return read(path, leaves, (entry, where) => readEntry(entry, where, table, sections));
}

/** Paths that others are below of. */
function sectionsOf({ byPath }: Table): ReadonlySet<string> {
  return new Set(
    [...byPath.keys(), ...unusedPaths.keys()].flatMap((path) => {
      const names = path.split(".");
      return names.slice(1).map((_, index) => names.slice(0, index + 1).join("."));
    }),
  );
}

function read(file: string, entries: readonly Entry[], readOne: (entry: Entry, where: string) => Said): Said {
  const kinds = entries.filter(({ path }) => path === "kind" || path === "apiVersion");
  // Of a file of another kind nothing else is worth a word.
  const other = kinds.some(({ path, value }) => path === "kind" && value !== KIND);
  const all = (other ? kinds : entries).map((entry) => readOne(entry, `${file}:${entry.line}: ${entry.path}`));
  if (kinds.length < 2) all.push(refused(file, `needs apiVersion: ${API_VERSION} and kind: ${KIND}`));
  return {
    occurrences: all.flatMap(({ occurrences }) => occurrences),
    problems: all.flatMap(({ problems }) => problems),
    warnings: all.flatMap(({ warnings }) => warnings),
    lost: other ? "all" : all.flatMap(({ lost }) => lost),
  };
}

/** Leaves of the tree; below what is no section nothing is looked for. */
function entriesOf(
  node: YAMLMap,
  path: string,
  known: { readonly lines: LineCounter; readonly sections: ReadonlySet<string> },
): readonly Entry[] {
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : String(key);
    const below = path === "" ? name : `${path}.${name}`;
    if (isMap(value) && known.sections.has(below)) return entriesOf(value, below, known);
    const line = known.lines.linePos(isScalar(key) ? (key.range?.[0] ?? 0) : (node.range?.[0] ?? 0)).line;
    return [{ path: below, value: plainValue(value), line }];
  });
}

function plainValue(node: unknown): unknown {
  if (isScalar(node)) return node.value;
  return isSeq(node) ? node.items.map((item) => plainValue(item)) : node;
}

function readEntry({ path, value }: Entry, where: string, table: Table, sections: ReadonlySet<string>): Said {
  const row = table.byPath.get(path);
  if (row !== undefined) {
    const { key, flag } = row;
    const wrong = misfit(value, flag.shape);
    if (wrong !== undefined) return { ...refused(where, wrong), lost: [key] };
    return { ...NOTHING_SAID, occurrences: textsOf(value, flag).map((text) => ({ key, where, text })) };
  }
  const unused = unusedPaths.get(path);
  if (unused !== undefined) return readUnused(value, unused, where);
  const wanted = path === "kind" ? KIND : path === "apiVersion" ? API_VERSION : undefined;
  if (wanted !== undefined) {
    return value === wanted ? NOTHING_SAID : refused(where, `is "${String(value)}", not ${wanted}`);
  }
  if (sections.has(path)) return refused(where, "is a section: write its settings below it, or take the line out");
  const meant = suggestion(path, table, sections);
  return refused(where, `is not a setting${meant === undefined ? "" : `; did you mean ${meant}?`}`);
}

function readUnused(value: unknown, { flag, instead }: { flag: Flag<unknown>; instead: string }, where: string): Said {
  const wrong = misfit(value, flag.shape) ?? textsOf(value, flag).map((text) => problemOf(flag, text))[0];
  return wrong === undefined ? { ...NOTHING_SAID, warnings: [{ where, what: instead }] } : refused(where, wrong);
}

function problemOf(flag: Flag<unknown>, text: string): string | undefined {
  const parsed = flag.parse(text, undefined);
  return parsed.kind === "problem" ? parsed.problem : undefined;
}

/** The path that was meant: one spelled nearly so, that of the flag, or the one that ends so. */
function suggestion(path: string, { byName, byPath }: Table, sections: ReadonlySet<string>): string | undefined {
  const paths = [...byPath.keys(), ...sections];
  const last = plain(path.split(".").at(-1) ?? "");
  return (
    nearest(path, paths) ??
    [...byName.values()].find(({ name }) => plain(name) === last)?.path ??
    paths.find((known) => plain(known.split(".").at(-1) ?? "") === last)
  );
}

function refused(where: string, what: string): Said {
  return { ...NOTHING_SAID, problems: [{ where, what }] };
}

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
function misfit(value: unknown, shape: Shape): string | undefined {
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
function textsOf(value: unknown, flag: Flag<unknown>): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.length === 0 && defaultText(flag) !== "" ? [""] : items.map((item) => String(item));
}

function shown(value: unknown): string {
  return typeof value === "string" ? `the text "${value}"` : JSON.stringify(value);
}

/** What a configuration file says that it is. */
export const API_VERSION = "cloudcontrollermanager.config.k8s.io/v1alpha1";
export const KIND = "CloudControllerManagerConfiguration";
