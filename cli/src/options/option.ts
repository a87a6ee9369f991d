/** One option of a command line: parser, `--help`, completion and docs/reference/cli.md all read it. */
export interface Option {
  readonly type: "flag" | "text" | "texts" | "choice" | "number" | "duration";
  /** `-o`. */
  readonly letter?: string;
  /** What stands for the value in texts; a flag has none. */
  readonly valueName?: string;
  /** With type choice. */
  readonly choices?: readonly string[];
  /** Of type number. @default 99_999 */
  readonly most?: number;
  /** As typed; absent: none, or described in the help. */
  readonly default?: string;
  /** What a shell offers as its value, besides choices. */
  readonly completes?: "files" | "directories";
  /** One or two sentences. */
  readonly help: string;
}

/** By name, without dashes. An option of the same name means the same, and has the same type, in all commands. */
export type OptionTable = Readonly<Record<string, Option>>;

/** Own properties only: `constructor` is not an option. */
export function optionIn(table: OptionTable, name: string): Option | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** What was typed for the options of one command, checked; defaults are filled in. */
export class OptionValues {
  readonly #table: OptionTable;
  readonly #typed: ReadonlyMap<string, readonly string[]>;

  /** @param typed one text for each time that an option was given; of a flag "true" or "false" */
  constructor(table: OptionTable, typed: ReadonlyMap<string, readonly string[]>) {
    this.#table = table;
    this.#typed = typed;
  }

  flag(name: string): boolean {
    return this.#last(name) === "true";
  }

  /** undefined: it was not given, and has no default. */
  text(name: string): string | undefined {
    return this.#last(name);
  }

  /** Of an option that has a default. */
  textOf(name: string): string {
    const text = this.#last(name);
    if (text === undefined) throw new Error(`the option --${name} has no default`);
    return text;
  }

  texts(name: string): readonly string[] {
    this.#option(name);
    return this.#typed.get(name) ?? [];
  }

  number(name: string): number {
    return Number(this.textOf(name));
  }

  durationMs(name: string): number {
    return parseDurationMs(this.textOf(name)) ?? 0;
  }

  #last(name: string): string | undefined {
    return this.#typed.get(name)?.at(-1) ?? this.#option(name).default;
  }

  #option(name: string): Option {
    const option = this.#table[name];
    if (option === undefined) throw new Error(`the command does not declare the option --${name}`);
    return option;
  }
}

/** What is wrong with a value; undefined: nothing. */
export function valueProblem(option: Option, text: string): string | undefined {
  switch (option.type) {
    case "flag":
      return text === "true" || text === "false" ? undefined : `is ${text}; it is true or false`;
    case "choice":
      return option.choices?.includes(text) === false
        ? `is ${text}; it is one of ${option.choices.join(", ")}`
        : undefined;
    case "number":
      return numberProblem(text, option.most);
    case "duration":
      return parseDurationMs(text) === undefined
        ? `is ${text}; it is a time such as 500ms, 2s or 1m30s, of 24h at most`
        : undefined;
    case "text":
    case "texts":
      return text === "" ? "is empty" : undefined;
    default:
      return option.type satisfies never;
  }
}

function numberProblem(text: string, most = 99_999): string | undefined {
  const isWhole = /^\d{1,5}$/.test(text) && Number(text) > 0;
  if (isWhole && Number(text) <= most) return undefined;
  return `is ${text}; it is a whole number ${isWhole ? `of at most ${most}` : "above 0"}`;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `24h`: timers are limited to some weeks. */
const LONGEST_MS = 86_400_000;

/** Milliseconds of `500ms`, `2s`, `1m30s`; undefined: it is no duration, none at all, or longer than a day. */
function parseDurationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const sumMs = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
  return sumMs > 0 && sumMs <= LONGEST_MS ? sumMs : undefined;
}
