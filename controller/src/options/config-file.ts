import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from "yaml";
import { messageOf } from "../util/errors.ts";
import { configPaths } from "./config-paths.ts";
import { NOTHING_SAID, type Occurrence, type Said } from "./occurrence.ts";
import { rows } from "./rows.ts";
import { nearest } from "./suggestion.ts";
import type { Problem } from "./problem.ts";

const API_VERSION = "cloudcontrollermanager.config.k8s.io/v1alpha1";
const KIND = "CloudControllerManagerConfiguration";

/** One entry of the file, wherever it stands. */
interface Entry {
  /** `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
}

/** The settings of a configuration file, YAML or JSON. */
export function readConfigFile(path: string, readText: (path: string) => string): Said {
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    return refused(path, `cannot be read: ${messageOf(error)}`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const malformed = document.errors.map(({ pos, message }) => ({
    where: `${path}:${lines.linePos(pos[0]).line}`,
    what: message,
  }));
  if (malformed.length > 0) return { ...NOTHING_SAID, problems: malformed };
  if (document.contents === null || !isMap(document.contents)) {
    return refused(path, `holds no ${KIND}`);
  }
  return read(path, entriesOf(document.contents, "", lines));
}

function read(file: string, entries: readonly Entry[]): Said {
  const occurrences: Occurrence[] = [];
  const problems: Problem[] = [];
  for (const entry of entries) {
    const where = `${file}:${entry.line}: ${entry.path}`;
    const key = configPaths.get(entry.path);
    const said = key === undefined ? readOther(entry, where) : readSetting(entry, key, where);
    occurrences.push(...said.occurrences);
    problems.push(...said.problems);
  }
  const kinds = entries.filter(({ path }) => path === "kind" || path === "apiVersion");
  if (kinds.length < 2) problems.push({ where: file, what: `needs apiVersion: ${API_VERSION} and kind: ${KIND}` });
  return { ...NOTHING_SAID, occurrences, problems };
}

/** Leaves of the tree; below what is no section nothing is looked for. */
function entriesOf(node: YAMLMap, path: string, lines: LineCounter): readonly Entry[] {
  return node.items.flatMap(({ key, value }) => {
    if (!isScalar(key)) return [];
    const below = path === "" ? String(key.value) : `${path}.${String(key.value)}`;
    if (isMap(value) && isSection(below)) return entriesOf(value, below, lines);
    return [{ path: below, value: plain(value), line: lines.linePos(key.range?.[0] ?? 0).line }];
  });
}

function isSection(path: string): boolean {
  return [...configPaths.keys()].some((known) => known.startsWith(`${path}.`));
}

function plain(node: unknown): unknown {
  if (isScalar(node)) return node.value;
  return isSeq(node) ? node.items.map((item) => plain(item)) : node;
}

function readSetting({ value }: Entry, key: string, where: string): Said {
  if (value === undefined || value === null) return NOTHING_SAID;
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (items.some((item) => typeof item === "object"))
    return refused(where, "is neither a text, a number nor a list of them");
  if (Array.isArray(value) && !isList(key)) return refused(where, "is a list, but takes one value");
  return { ...NOTHING_SAID, occurrences: items.map((item) => ({ key, where, text: String(item) })) };
}

function isList(key: string): boolean {
  return [...rows.values()].some((row) => row.key === key && Array.isArray(row.flag.defaultValue));
}

function readOther({ path, value }: Entry, where: string): Said {
  const wanted = path === "kind" ? KIND : path === "apiVersion" ? API_VERSION : undefined;
  if (wanted !== undefined)
    return value === wanted ? NOTHING_SAID : refused(where, `is "${String(value)}", not ${wanted}`);
  const near = nearest(path, configPaths.keys());
  return refused(where, `is not a setting${near === undefined ? "" : `; did you mean ${near}?`}`);
}

function refused(where: string, what: string): Said {
  return { ...NOTHING_SAID, problems: [{ where, what }] };
}
