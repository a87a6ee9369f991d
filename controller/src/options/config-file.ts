import { type LineCounter, type YAMLMap, isMap, isScalar, isSeq } from "yaml";
import { type FileText, readYaml } from "./text-file.ts";
import { type Flag, NOTHING_SAID, type Said, type Shape, allSaid, defaultText, saidWrong } from "./flag.ts";
import { nearest, plain } from "./suggestion.ts";
import type { FlagTable } from "./table.ts";
import { unusedPaths } from "./upstream-flags.ts";

interface Entry {
  /** `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
}

type Table = Pick<FlagTable<unknown>, "byName" | "byPath" | "byPreviousPath">;

/** The settings of the configuration file at `path`, YAML or JSON. */
export function readConfigFile(table: Table, path: string, file: FileText): Said {
  if (file.kind === "unreadable") return { ...saidWrong(path, file.what), lost: "all" };
  const yaml = readYaml(file.text);
  if (yaml.kind === "malformed") {
    const problems = yaml.mistakes.map(({ line, what }) => ({ where: `${path}:${line}`, what }));
    return { ...NOTHING_SAID, problems, lost: "all" };
  }
  const { document, lines } = yaml;
  if (document.contents === null || !isMap(document.contents)) {
    return { ...saidWrong(path, `contains no ${KIND}`), lost: "all" };
  }
  const sections = sectionsOf(table);
  const leaves = entriesOf(document.contents, "", { lines, sections });
  const given = new Set(leaves.map((leaf) => leaf.path));
  return read(path, leaves, (entry, where) => {
    const row = table.byPreviousPath.get(entry.path);
    if (row?.path !== undefined && given.has(row.path)) {
      return readUnused(entry.value, { flag: row.flag, instead: `${row.path} takes precedence` }, where);
    }
    return readEntry(entry, where, table, sections);
  });
}

/** Paths that have other paths below them. */
function sectionsOf({ byPath, byPreviousPath }: Table): ReadonlySet<string> {
  return new Set(
    [...byPath.keys(), ...byPreviousPath.keys(), ...unusedPaths.keys()].flatMap((path) => {
      const names = path.split(".");
      return names.slice(1).map((_, index) => names.slice(0, index + 1).join("."));
    }),
  );
}

function read(file: string, entries: readonly Entry[], readOne: (entry: Entry, where: string) => Said): Said {
  const kinds = entries.filter(({ path }) => path === "kind" || path === "apiVersion");
  // In a file of another kind everything else is wrong as well.
  const other = kinds.some(({ path, value }) => path === "kind" && value !== KIND);
  const all = (other ? kinds : entries).map((entry) => readOne(entry, `${file}:${entry.line}: ${entry.path}`));
  if (kinds.length < 2) all.push(saidWrong(file, `needs apiVersion: ${API_VERSION} and kind: ${KIND}`));
  return other ? { ...allSaid(all), lost: "all" } : allSaid(all);
}

/** Leaves of the tree; a value that is not a section is a leaf. */
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
  const row = table.byPath.get(path) ?? table.byPreviousPath.get(path);
  if (row !== undefined) {
    const { key, flag } = row;
    const wrong = misfit(value, flag.shape);
    if (wrong !== undefined) return { ...saidWrong(where, wrong), lost: [key] };
    return { ...NOTHING_SAID, occurrences: textsOf(value, flag).map((text) => ({ key, where, text })) };
  }
  const unused = unusedPaths.get(path);
  if (unused !== undefined) return readUnused(value, unused, where);
  const wanted = path === "kind" ? KIND : path === "apiVersion" ? API_VERSION : undefined;
  if (wanted !== undefined) {
    return value === wanted ? NOTHING_SAID : saidWrong(where, `is "${String(value)}", not ${wanted}`);
  }
  if (sections.has(path)) return saidWrong(where, "is a section: write its settings below it, or remove the line");
  const meant = suggestion(path, table, sections);
  return saidWrong(where, `is not a setting${meant === undefined ? "" : `; did you mean ${meant}?`}`);
}

function readUnused(value: unknown, { flag, instead }: { flag: Flag<unknown>; instead: string }, where: string): Said {
  const wrong = misfit(value, flag.shape) ?? textsOf(value, flag).map((text) => problemOf(flag, text))[0];
  return wrong === undefined ? { ...NOTHING_SAID, warnings: [{ where, what: instead }] } : saidWrong(where, wrong);
}

function problemOf(flag: Flag<unknown>, text: string): string | undefined {
  const parsed = flag.parse(text, undefined);
  return parsed.kind === "problem" ? parsed.problem : undefined;
}

/** A similar path, that of the flag, or one with the same last name. */
function suggestion(path: string, { byName, byPath }: Table, sections: ReadonlySet<string>): string | undefined {
  const paths = [...byPath.keys(), ...sections];
  const last = plain(path.split(".").at(-1) ?? "");
  return (
    nearest(path, paths) ??
    [...byName.values()].find(({ name }) => plain(name) === last)?.path ??
    paths.find((known) => plain(known.split(".").at(-1) ?? "") === last)
  );
}

/** The type of each shape in a configuration file, and its name in messages. */
const TAKES: Readonly<Record<Shape["kind"], readonly [type: string, words: string]>> = {
  boolean: ["boolean", "true or false"],
  number: ["number", "a number"],
  duration: ["string", "a duration like 300ms, 15s or 1m30s"],
  text: ["string", "a string: put it in quotes"],
  choice: ["string", "a string: put it in quotes"],
  list: ["string", "a string: put it in quotes"],
};

/** Of the type of a value: YAML reads `010` as a number unless it is quoted. */
function misfit(value: unknown, shape: Shape): string | undefined {
  if (value === null || value === undefined) return "has no value: set one, or remove the line";
  if (Array.isArray(value)) {
    if (shape.kind !== "list") return "is a list, but takes one value";
    const other = value.findIndex((item) => typeof item !== "string");
    return other < 0 ? undefined : `item ${other + 1} is not a string: put it in quotes`;
  }
  if (typeof value === "object") return "is not a string, a number or a list of them";
  const [type, words] = TAKES[shape.kind];
  return typeof value === type ? undefined : `is ${shown(value)}, but takes ${words}`;
}

/** The value as on a command line, where an empty text clears a list that has a default. */
function textsOf(value: unknown, flag: Flag<unknown>): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.length === 0 && defaultText(flag) !== "" ? [""] : items.map((item) => String(item));
}

function shown(value: unknown): string {
  return typeof value === "string" ? `the string "${value}"` : JSON.stringify(value);
}

export const API_VERSION = "cloudcontrollermanager.config.k8s.io/v1alpha1";
export const KIND = "CloudControllerManagerConfiguration";
