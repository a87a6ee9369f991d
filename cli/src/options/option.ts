/** One option of a command line: parser, `--help`, completion and docs/reference/cli.md all read it. */
export interface Option {
  readonly type: "flag" | "text" | "texts" | "choice" | "number" | "duration";
  /** `-o`. */
  readonly letter?: string;
  /** Placeholder of the value in texts; flags have none. */
  readonly valueName?: string;
  /** With type choice. */
  readonly choices?: readonly string[];
  /** Maximum of type number. @default 99_999 */
  readonly max?: number;
  /** As on the command line; absent: none, or described in the help. */
  readonly default?: string;
  /** Paths that shells complete as its value. */
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

/** The options of one command line, validated, with defaults. */
export class OptionValues {
  readonly #table: OptionTable;
  readonly #typed: ReadonlyMap<string, readonly string[]>;

  /** @param typed the values of each option in order; "true" or "false" for flags */
  constructor(table: OptionTable, typed: ReadonlyMap<string, readonly string[]>) {
    this.#table = table;
    this.#typed = typed;
  }

  flag(name: string): boolean {
    return this.#last(name) === "true";
  }

  /** undefined: not specified, and without default. */
  text(name: string): string | undefined {
    return this.#last(name);
  }

  /** For options with a default. */
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

/** The problem of a value, to follow the name of its option; undefined: the value is valid. */
export function valueProblem(option: Option, text: string): string | undefined {
  switch (option.type) {
    case "flag":
      return text === "true" || text === "false" ? undefined : `must be true or false, not ${text}`;
    case "choice":
      return option.choices?.includes(text) === false
        ? `must be one of ${option.choices.join(", ")}, not ${text}`
        : undefined;
    case "number":
      return numberProblem(text, option.max);
    case "duration":
      return parseDurationMs(text) === undefined
        ? `must be a duration such as 500ms, 2s or 1m30s, and at most 24h, not ${text}`
        : undefined;
    case "text":
    case "texts":
      return text === "" ? "must not be empty" : undefined;
    default:
      return option.type satisfies never;
  }
}

function numberProblem(text: string, max = 99_999): string | undefined {
  const isWhole = /^\d{1,5}$/.test(text) && Number(text) > 0;
  if (isWhole && Number(text) <= max) return undefined;
  return `must be a whole number ${isWhole ? `of at most ${max}` : "above 0"}, not ${text}`;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `24h`: timers are limited to 24 days. */
const LONGEST_MS = 86_400_000;

/** Milliseconds of `500ms`, `2s`, `1m30s`; undefined: not a duration, zero, or longer than a day. */
function parseDurationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const sumMs = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
  return sumMs > 0 && sumMs <= LONGEST_MS ? sumMs : undefined;
}
