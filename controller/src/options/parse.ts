import { isAsked } from "./command-flags.ts";
import { readCommandLine } from "./command-line.ts";
import { readConfigFile } from "./config-file.ts";
import { readEnvironment } from "./environment.ts";
import { COMPLETION, readCompletion } from "./completion-command.ts";
import { NOTHING_SAID, type Occurrence, type Said } from "./occurrence.ts";
import { flags, type Options } from "./options.ts";
import type { Problem } from "./problem.ts";
import { providerTlsFileProblems } from "./provider-tls-rules.ts";
import { rows } from "./rows.ts";
import { validate } from "./validate.ts";

/** What the command line asks for; completion is that of bash. */
export type Command =
  | { readonly kind: "run"; readonly options: Options; readonly warnings: readonly Problem[] }
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "completion" }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** Where settings come from. */
export interface Sources {
  /** Command line without program name. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads the file that --config names; throws when it cannot. */
  readonly readText: (path: string) => string;
}

type Values = Partial<Record<string, unknown>>;

/**
 * Each setting from the first place that says anything of it: command line, environment, file, default. Every problem is found and
 * reported together.
 */
export function parseCommand(sources: Sources, knownControllers: ReadonlySet<string>): Command {
  const { args, environment, readText } = sources;
  if (isAsked("help", args)) return { kind: "help" };
  if (isAsked("version", args)) return { kind: "version" };
  if (args[0] === COMPLETION) return readCompletion(args.slice(1));
  const near = [readCommandLine(args), readEnvironment(environment)];
  const path = inForce(near).findLast(({ key }) => key === "config")?.text ?? "";
  const file = path === "" ? NOTHING_SAID : readConfigFile(path, readText);
  const said = [...near, file];
  const counting = inForce(said);
  const read = readValues(counting);
  const options = withDefaults(read.values);
  const found = [...said.flatMap(({ problems }) => problems), ...read.problems];
  // A setting that could not be read keeps its default; rules across settings would then speak of values nobody gave.
  const rules = [...validate(options, knownControllers), ...providerTlsFileProblems(options, readText)];
  const isLost = (flag: string): boolean => {
    const key = rows.get(flag.replace(/^--/, ""))?.key ?? "";
    return !counting.some((occurrence) => occurrence.key === key) && (file.lost === "all" || file.lost.includes(key));
  };
  const across = rules.filter(
    ({ where }) => !isLost(where) && !read.unreadable.has(where) && !found.some((problem) => problem.where === where),
  );
  const problems = [...found, ...across.map((problem) => located(problem, counting))];
  if (problems.length > 0) return { kind: "invalid", problems };
  return { kind: "run", options, warnings: said.flatMap(({ warnings }) => warnings) };
}

/** What counts of what was said, nearest place first: a place that says anything of a setting hides the farther ones. */
function inForce(places: readonly Said[]): readonly Occurrence[] {
  const settled = new Set<string>();
  return places.flatMap(({ occurrences }) => {
    const counting = occurrences.filter(({ key }) => !settled.has(key));
    for (const { key } of counting) settled.add(key);
    return counting;
  });
}

/** Rules speak of flags; a user looks where the setting was written. */
function located({ where, what }: Problem, occurrences: readonly Occurrence[]): Problem {
  const key = rows.get(where.replace(/^--/, ""))?.key;
  return { where: occurrences.findLast((occurrence) => occurrence.key === key)?.where ?? where, what };
}

interface Reading {
  readonly values: Values;
  readonly problems: readonly Problem[];
  /** Flags whose value could not be read. */
  readonly unreadable: ReadonlySet<string>;
}

function readValues(occurrences: readonly Occurrence[]): Reading {
  const values: Values = {};
  const problems: Problem[] = [];
  const unreadable = new Set<string>();
  const byKey = new Map([...rows].map(([name, row]) => [row.key, { ...row, name }]));
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

function withDefaults(values: Values): Options {
  const entries = Object.entries(flags).map(([key, flag]) => [key, values[key] ?? flag.defaultValue] as const);
  // oxlint-disable-next-line typescript/consistent-type-assertions -- each value came from the parse() or the default of its own row
  return Object.fromEntries(entries) as Options;
}
