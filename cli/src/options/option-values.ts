import { parseDurationMs } from "./duration.ts";
import type { Option, OptionTable } from "./option.ts";

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
