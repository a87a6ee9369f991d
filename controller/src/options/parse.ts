import { type Options, flags } from "../app/options.ts";
import { type StartFiles, readStartFiles } from "../app/start-files.ts";
import { validate } from "../app/validate.ts";
import { readCommandLine } from "./command-line.ts";
import { COMPLETION, readCompletion } from "./completion.ts";
import { readConfigFile } from "./config-file.ts";
import { type ReadText, readFileText } from "./text-file.ts";
import { NOTHING_SAID, type Occurrence, type Problem, type Said } from "./flag.ts";
import { isAsked, rows } from "./table.ts";

/** What the command line asks for; completion is that of bash. */
export type Command =
  | ({ readonly kind: "run" } & Start)
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "completion" }
  | Invalid;

/** Options that may take the place of those in force. */
export type Reparsed = { readonly kind: "options"; readonly options: Options } | Invalid;

/** Every problem there is. */
export interface Invalid {
  readonly kind: "invalid";
  readonly problems: readonly Problem[];
}

/** What a run starts with. */
export interface Start extends Omit<StartFiles, "problems"> {
  readonly options: Options;
  /** What the file of --config says; undefined: there is none. */
  readonly configText: string | undefined;
  readonly warnings: readonly Problem[];
}

/** Where settings come from. */
export interface Sources {
  /** Command line without program name. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads the files that settings name, each once; throws when it cannot. */
  readonly readText: ReadText;
}

type Values = Partial<Record<string, unknown>>;

/**
 * Each setting from the first place that says anything of it: command line, environment, file, default. Every problem is found and
 * reported together, those of files that settings name among them.
 */
export function parseCommand(sources: Sources, knownControllers: ReadonlySet<string>): Command {
  const { args, environment, readText } = sources;
  if (isAsked("help", args)) return { kind: "help" };
  if (isAsked("version", args)) return { kind: "version" };
  if (args[0] === COMPLETION) return readCompletion(args.slice(1));
  const settings = readSettings(sources);
  const { options, configText, warnings } = settings;
  const { problems: wrong, ...files } = readStartFiles(options, environment, readText);
  const problems = problemsOf(settings, [...validate(options, knownControllers), ...wrong]);
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "run", options, configText, warnings, ...files };
}

/** The options once more, by another text of the file of --config. Nothing else is read: what other files say is of the start. */
export function parseAgain(
  { args, environment }: Pick<Sources, "args" | "environment">,
  configText: string,
  knownControllers: ReadonlySet<string>,
): Reparsed {
  const settings = readSettings({ args, environment, readText: () => configText });
  const { options } = settings;
  const problems = problemsOf(settings, validate(options, knownControllers));
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "options", options };
}

interface Settings {
  readonly options: Options;
  readonly configText: string | undefined;
  readonly warnings: readonly Problem[];
  /** What is wrong with single settings. */
  readonly problems: readonly Problem[];
  readonly counting: readonly Occurrence[];
  /** Flags whose value could not be read. */
  readonly unreadable: ReadonlySet<string>;
  /** Of the file. */
  readonly lost: Said["lost"];
}

function readSettings({ args, environment, readText }: Sources): Settings {
  const near = [readCommandLine(args), readEnvironment(environment)];
  const path = inForce(near).findLast(({ key }) => key === "config")?.text ?? "";
  const file = path === "" ? undefined : readFileText(path, readText);
  const far = file === undefined ? NOTHING_SAID : readConfigFile(path, file);
  const said = [...near, far];
  const counting = inForce(said);
  const { values, problems, unreadable } = readValues(counting);
  return {
    options: withDefaults(values),
    configText: file?.kind === "text" ? file.text : undefined,
    warnings: said.flatMap(({ warnings }) => warnings),
    problems: [...said.flatMap((place) => place.problems), ...problems],
    counting,
    unreadable,
    lost: far.lost,
  };
}

/** A setting that could not be read keeps its default; rules across settings would then speak of values nobody gave. */
function problemsOf({ problems, counting, unreadable, lost }: Settings, rules: readonly Problem[]): readonly Problem[] {
  const isLost = (flag: string): boolean => {
    const key = keyOf(flag);
    if (key === undefined || counting.some((occurrence) => occurrence.key === key)) return false;
    return lost === "all" || lost.includes(key);
  };
  const across = rules.filter(
    ({ where }) => !isLost(where) && !unreadable.has(where) && !problems.some((problem) => problem.where === where),
  );
  return [...problems, ...across.map((problem) => located(problem, counting))];
}

/** Of an option, by its flag; undefined: it is none. */
function keyOf(flag: string): string | undefined {
  return rows.get(flag.replace(/^--/, ""))?.key;
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
  const key = keyOf(where);
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

const PREFIX = "CLOUDWIRE_";

/** `leader-elect` to `CLOUDWIRE_LEADER_ELECT`. */
export function variableName(flag: string): string {
  return `${PREFIX}${flag.replaceAll("-", "_").toUpperCase()}`;
}

/**
 * The settings among the environment's variables. An empty one is as good as none. Names that are no setting are nobody's fault: a
 * Service called "cloudwire" puts some into every pod of its namespace.
 */
function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Said {
  const occurrences = [...rows].flatMap(([name, { key, flag }]) => {
    const where = variableName(name);
    const text = environment[where] ?? "";
    // A variable stands once: a flag that may be repeated has a line for each.
    const texts = flag.shape.kind === "list" ? text.split("\n").map((line) => line.trim()) : [text];
    return texts.filter((item) => item !== "").map((item) => ({ key, where, text: item }));
  });
  return { ...NOTHING_SAID, occurrences };
}
