import { parseCidr } from "../addresses/ip.ts";
import type { IpFamily } from "../definition/common.ts";

/** One option of a provider's program: what the command line, the environment, `--help` and the README need to know of it. */
export interface ProgramOption {
  /** A sentence or two, with unit and default. */
  readonly help: string;
  /** Word for the value in `--help`, such as `seconds`. */
  readonly valueName: string;
  /** Its environment variable. The command line counts before. */
  readonly env: string;
  /** May be given several times; in the environment the values are separated by spaces. Default: the last one counts. */
  readonly repeated?: boolean;
}

/** Options by name, without dashes, in the order of `--help`. */
export type ProgramOptions<Name extends string = string> = Readonly<Record<Name, ProgramOption>>;

/** What `--help` prints. */
export interface HelpText {
  /** Name of the program. */
  readonly program: string;
  /** What it does, in a sentence or two. */
  readonly about: string;
}

/** Makes the text of `--help`: a line for each option. */
export function formatHelp(options: ProgramOptions, { program, about }: HelpText): string {
  const rows = Object.entries(options).map(([name, { valueName, env, ...option }]) => ({
    left: `  --${name} <${valueName}>`,
    right: `${meaningOf(option)} [${env}]`,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return [
    `Usage: ${program} [options]`,
    "",
    about,
    "",
    ...rows.map(({ left, right }) => `${left.padEnd(width)}${right}`),
    "",
  ].join("\n");
}

/** The help, and whether it may be repeated. */
export const meaningOf = ({ help, repeated }: Pick<ProgramOption, "help" | "repeated">): string =>
  `${help}${repeated ? " May be repeated." : ""}`;

/** How often a cloud may be called, as `limits.callRates` has it. */
export interface OptionRate {
  /** Requests to the cloud a second. */
  readonly cloudCallsPerSecond: number;
  /** Requests that may be made at once after a pause. */
  readonly burst: number;
}

/** The values of the options, and every problem with them, not only the first. */
export class OptionValues<Name extends string> {
  /** The problems so far, one line each. */
  readonly problems: string[] = [];
  readonly #options: ProgramOptions<Name>;
  readonly #given: (name: Name) => readonly string[];

  /** `given` answers the values of an option, in the order in which they were given. */
  constructor(options: ProgramOptions<Name>, given: (name: Name) => readonly string[]) {
    this.#options = options;
    this.#given = given;
  }

  /** All values of an option, whatever they are. */
  all(name: Name): readonly string[] {
    return this.#given(name);
  }

  /** The last one, whatever it is. */
  last(name: Name): string | undefined {
    return this.all(name).at(-1);
  }

  /** One that has to be there and to have the form; `wanted` says in words what that is. "" when it is not there. */
  required(name: Name, form: RegExp, wanted: string): string {
    const text = this.optional(name, form, wanted);
    if (text === undefined)
      this.problems.push(`--${name} is missing: give ${wanted}, or set ${this.#options[name].env}`);
    return text ?? "";
  }

  /** One that has to have the form if it is there. */
  optional(name: Name, form: RegExp, wanted: string): string | undefined {
    const text = this.last(name);
    if (text !== undefined) this.#check(name, text, form, wanted);
    return text;
  }

  /** All, each of which has to have the form. */
  list(name: Name, form: RegExp, wanted: string): readonly string[] {
    const texts = this.all(name);
    for (const text of texts) this.#check(name, text, form, wanted);
    return texts;
  }

  /** All, each of which has to be an address range such as `10.244.0.0/16`. */
  ranges(name: Name): readonly string[] {
    const texts = this.all(name);
    for (const text of texts) {
      if (!parseCidr(text)) this.problems.push(`--${name} ${text}: must be an address range such as 10.244.0.0/16`);
    }
    return texts;
  }

  /** Address families, each once, in the given order; `defaultValue` if none is given. */
  ipFamilies(name: Name, defaultValue: readonly IpFamily[]): readonly IpFamily[] {
    const given = this.list(name, /^IPv[46]$/, "IPv4 or IPv6");
    const families = new Set(given.map((text): IpFamily => (text === "IPv6" ? "IPv6" : "IPv4")));
    return families.size === 0 ? defaultValue : [...families];
  }

  /** A whole number from `min` to `max`. */
  integer(name: Name, min: number, max: number, defaultValue: number): number {
    const text = this.last(name);
    const value = text === undefined ? defaultValue : Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    this.problems.push(`--${name} ${text}: must be a whole number, ${min} to ${max}`);
    return defaultValue;
  }

  /** Requests a second and how many at once, such as `10:50`. */
  rate(name: Name, defaultValue: OptionRate): OptionRate {
    const text = this.last(name);
    if (text === undefined) return defaultValue;
    const [, rate, burst] = /^(\d{1,5}(?:\.\d{1,3})?):([1-9]\d{0,4})$/.exec(text) ?? [];
    if (Number(rate) > 0) return { cloudCallsPerSecond: Number(rate), burst: Number(burst) };
    this.problems.push(`--${name} ${text}: must be requests a second and how many at once, such as 10:50`);
    return defaultValue;
  }

  #check(name: Name, text: string, form: RegExp, wanted: string): void {
    if (!form.test(text)) this.problems.push(`--${name} ${text}: must be ${wanted}`);
  }
}
