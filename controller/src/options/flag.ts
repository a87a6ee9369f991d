import { formatDuration, parseDurationMs } from "./duration.ts";

/** What came of reading one value: the value, or what is wrong with the text and what would be right. */
export type Parsed<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "problem"; readonly problem: string };

/** One setting: everything that the parser, `--help` and the reference page need to know of it. */
export interface Flag<T> {
  /** Heading under which `--help` lists it. */
  readonly group: FlagGroup;
  /** What it does, one sentence without full stop; units and limits included. */
  readonly help: string;
  /** Word for the value in `--help`; a boolean has none. */
  readonly valueName: string | undefined;
  readonly defaultValue: T;
  /** The default as a user would write it; empty: there is none to show. */
  readonly defaultText: string;
  /** Reads one occurrence; `before` is the value so far, for flags that may be repeated. */
  parse(text: string, before: T | undefined): Parsed<T>;
}

export type FlagGroup =
  | "configuration"
  | "provider"
  | "kubernetes"
  | "controllers"
  | "leader election"
  | "serving"
  | "webhooks"
  | "logging"
  | "upstream";

interface Words {
  readonly group: FlagGroup;
  readonly help: string;
}

export function value<T>(parsed: T): Parsed<T> {
  return { kind: "value", value: parsed };
}

export function problem<T>(text: string): Parsed<T> {
  return { kind: "problem", problem: text };
}

export function stringFlag(
  words: Words & { readonly valueName: string; readonly defaultValue?: string },
): Flag<string> {
  const defaultValue = words.defaultValue ?? "";
  return { ...words, defaultValue, defaultText: defaultValue, parse: (text) => value(text) };
}

export function boolFlag(words: Words & { readonly defaultValue: boolean }): Flag<boolean> {
  return {
    ...words,
    valueName: undefined,
    defaultText: String(words.defaultValue),
    parse: (text) =>
      text === "true" || text === "false" ? value(text === "true") : problem(`"${text}" is neither true nor false`),
  };
}

interface Bounds {
  readonly min: number;
  readonly max?: number;
}

export function numberFlag(
  words: Words & Bounds & { readonly valueName: string; readonly defaultValue: number; readonly whole: boolean },
): Flag<number> {
  const wanted = words.whole ? "a whole number" : "a number";
  return {
    ...words,
    defaultText: String(words.defaultValue),
    parse: (text) => {
      const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      const fits = Number.isFinite(number) && (!words.whole || Number.isInteger(number));
      return fits && within(number, words) ? value(number) : problem(`"${text}" is not ${wanted} ${rangeOf(words)}`);
    },
  };
}

export function durationFlag(words: Words & Bounds & { readonly defaultValue: number }): Flag<number> {
  return {
    ...words,
    valueName: "duration",
    defaultText: formatDuration(words.defaultValue),
    parse: (text) => {
      const durationMs = parseDurationMs(text);
      if (durationMs === undefined) return problem(`"${text}" is not a duration; write it like 300ms, 15s or 1m30s`);
      return durationMs >= words.min
        ? value(durationMs)
        : problem(`${text} is shorter than ${formatDuration(words.min)}`);
    },
  };
}

export function listFlag(
  words: Words & { readonly valueName: string; readonly defaultValue: readonly string[] },
): Flag<readonly string[]> {
  return {
    ...words,
    defaultText: words.defaultValue.join(","),
    parse: (text, before) => value([...(before ?? []), ...text.split(",").map((item) => item.trim())]),
  };
}

export function choiceFlag<Choice extends string>(
  words: Words & { readonly choices: readonly Choice[]; readonly defaultValue: Choice },
): Flag<Choice> {
  return {
    ...words,
    valueName: words.choices.join("|"),
    defaultText: words.defaultValue,
    parse: (text) => {
      const choice = words.choices.find((candidate) => candidate === text);
      return choice === undefined ? problem(`"${text}" is not one of ${words.choices.join(", ")}`) : value(choice);
    },
  };
}

function within(number: number, { min, max }: Bounds): boolean {
  return number >= min && (max === undefined || number <= max);
}

function rangeOf({ min, max }: Bounds): string {
  return max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
}
