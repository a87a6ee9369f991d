import { type FlagName, flags } from "./flags.ts";

/** What was given, and what is wrong with it. */
export class Values {
  readonly all: (name: FlagName) => readonly string[];
  readonly problems: string[] = [];

  constructor(all: (name: FlagName) => readonly string[]) {
    this.all = all;
  }

  /** The last one counts. */
  one(name: FlagName): string | undefined {
    return this.all(name).at(-1);
  }

  required(name: FlagName, form: RegExp, wanted: string): string {
    const text = this.optional(name, form, wanted);
    if (text === undefined) this.problems.push(`--${name} is missing: give ${wanted}, or set ${flags[name].env}`);
    return text ?? "";
  }

  optional(name: FlagName, form: RegExp, wanted: string): string | undefined {
    const text = this.one(name);
    if (text !== undefined) this.#check(name, text, form, wanted);
    return text;
  }

  list(name: FlagName, form: RegExp, wanted: string): readonly string[] {
    const texts = this.all(name);
    for (const text of texts) this.#check(name, text, form, wanted);
    return texts;
  }

  whole(name: FlagName, least: number, most: number, otherwise: number): number {
    const text = this.one(name);
    const value = text === undefined ? otherwise : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    this.problems.push(`--${name} ${text}: must be a whole number, ${least} to ${most}`);
    return otherwise;
  }

  rate(name: FlagName, otherwise: Rate): Rate {
    const text = this.one(name);
    if (text === undefined) return otherwise;
    const [, rate, burst] = /^(\d{1,5}(?:\.\d{1,3})?):([1-9]\d{0,4})$/.exec(text) ?? [];
    if (Number(rate) > 0) return { cloudCallsPerSecond: Number(rate), burst: Number(burst) };
    this.problems.push(`--${name} ${text}: must be requests a second and how many at once, such as 10:50`);
    return otherwise;
  }

  #check(name: FlagName, text: string, form: RegExp, wanted: string): void {
    if (!form.test(text)) this.problems.push(`--${name} ${text}: must be ${wanted}`);
  }
}

interface Rate {
  readonly cloudCallsPerSecond: number;
  readonly burst: number;
}
