import { readCommandLine } from "./command-line.ts";
import { readConfigFile } from "./config-file.ts";
import { type ReadText, readFileText } from "./text-file.ts";
import { NOTHING_SAID, type Occurrence, type Problem, type Said } from "./flag.ts";
import { CONFIG, type FlagTable } from "./table.ts";

/** Has all problems. */
export interface Invalid {
  readonly kind: "invalid";
  readonly problems: readonly Problem[];
}

export interface Sources {
  /** Without the program name. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file that a setting names. */
  readonly readText: ReadText;
}

type Values = Partial<Record<string, unknown>>;

export interface Settings<Options> {
  readonly options: Options;
  /** Of the file of --config; undefined: there is none. */
  readonly configText: string | undefined;
  readonly warnings: readonly Problem[];
  /** Problems of single settings, and those that rules across settings report. */
  readonly problemsWith: (rules: readonly Problem[]) => readonly Problem[];
}

/** Each setting comes from the first source that has it: command line, environment, file, default. */
export function readSettings<Options>(
  table: FlagTable<Options>,
  { args, environment, readText }: Sources,
): Settings<Options> {
  const near = [readCommandLine(table, args), readEnvironment(table, environment)];
  const path = inForce(near).findLast(({ key }) => key === CONFIG)?.text ?? "";
  const file = path === "" ? undefined : readFileText(path, readText);
  const far = file === undefined ? NOTHING_SAID : readConfigFile(table, path, file);
  const said = [...near, far];
  const counting = inForce(said);
  const { values, problems, unreadable } = readValues(table, counting);
  const single = [...said.flatMap((place) => place.problems), ...problems];
  return {
    options: { ...table.defaults, ...values },
    configText: file?.kind === "text" ? file.text : undefined,
    warnings: said.flatMap(({ warnings }) => warnings),
    problemsWith: (rules) => {
      const known = { table, counting, unreadable, lost: far.lost };
      return [...single, ...across(rules, single, known)];
    },
  };
}

interface Known extends Pick<Reading, "unreadable"> {
  readonly table: Pick<FlagTable<unknown>, "byName">;
  readonly counting: readonly Occurrence[];
  /** Of the file. */
  readonly lost: Said["lost"];
}

/** Without those about settings that could not be read: they have their default, which no one set. */
function across(
  rules: readonly Problem[],
  single: readonly Problem[],
  { table, counting, unreadable, lost }: Known,
): readonly Problem[] {
  const isLost = (flag: string): boolean => {
    const key = keyOf(table, flag);
    if (key === undefined || counting.some((occurrence) => occurrence.key === key)) return false;
    return lost === "all" || lost.includes(key);
  };
  const isKnown = (flag: string): boolean =>
    isLost(flag) || unreadable.has(flag) || single.some((p) => p.where === flag);
  return rules.filter(({ where }) => !isKnown(where)).map((problem) => located(table, problem, counting));
}

function keyOf({ byName }: Known["table"], flag: string): string | undefined {
  return byName.get(flag.replace(/^--/, ""))?.key;
}

/** @param places in order of precedence; the first that has a setting hides the others */
function inForce(places: readonly Said[]): readonly Occurrence[] {
  const settled = new Set<string>();
  return places.flatMap(({ occurrences }) => {
    const counting = occurrences.filter(({ key }) => !settled.has(key));
    for (const { key } of counting) settled.add(key);
    return counting;
  });
}

/** Rules name flags; a user looks where the setting was written. */
function located(table: Known["table"], { where, what }: Problem, occurrences: readonly Occurrence[]): Problem {
  const key = keyOf(table, where);
  return { where: occurrences.findLast((occurrence) => occurrence.key === key)?.where ?? where, what };
}

interface Reading {
  readonly values: Values;
  readonly problems: readonly Problem[];
  /** Flags whose value could not be read. */
  readonly unreadable: ReadonlySet<string>;
}

function readValues({ byKey }: Pick<FlagTable<unknown>, "byKey">, occurrences: readonly Occurrence[]): Reading {
  const values: Values = {};
  const problems: Problem[] = [];
  const unreadable = new Set<string>();
  for (const { key, text, where } of occurrences) {
    const row = byKey.get(key);
    if (row === undefined) continue;
    const parsed = row.flag.parse(text, values[key]);
    if (parsed.kind === "value") {
      values[key] = parsed.value;
    } else {
      problems.push({ where, what: parsed.problem });
      unreadable.add(`--${row.name}`);
    }
  }
  return { values, problems, unreadable };
}

const PREFIX = "CLOUDWIRE_";

/** `leader-elect` to `CLOUDWIRE_LEADER_ELECT`. */
export function variableName(flag: string): string {
  return `${PREFIX}${flag.replaceAll("-", "_").toUpperCase()}`;
}

/** Ignores empty and unknown variables: a Service named "cloudwire" adds some to each pod of its namespace. */
function readEnvironment({ byName }: Pick<FlagTable<unknown>, "byName">, environment: Sources["environment"]): Said {
  const occurrences = [...byName.values()].flatMap(({ name, key, flag }) => {
    const where = variableName(name);
    const text = environment[where] ?? "";
    // A list has one item a line.
    const texts = flag.shape.kind === "list" ? text.split("\n").map((line) => line.trim()) : [text];
    return texts.filter((item) => item !== "").map((item) => ({ key, where, text: item }));
  });
  return { ...NOTHING_SAID, occurrences };
}
