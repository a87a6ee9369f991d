import { parseArgs } from "node:util";

export type ReadFlags<Name extends string, Switch extends string> =
  | {
      readonly kind: "flags";
      readonly get: (name: Name) => string;
      readonly has: (name: Switch) => boolean;
    }
  | { readonly kind: "help" }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** Reads flags of the form --name=value, each with its default, and switches, which have no value; --help comes before everything else. */
export function readFlags<Name extends string, Switch extends string = never>(
  args: readonly string[],
  defaults: Readonly<Record<Name, string>>,
  switches: readonly Switch[] = [],
): ReadFlags<Name, Switch> {
  if (args.includes("--help")) return { kind: "help" };
  const options = Object.fromEntries([
    ...Object.keys(defaults).map((name) => [name, { type: "string" as const }] as const),
    ...switches.map((name) => [name, { type: "boolean" as const }] as const),
  ]);
  try {
    const { values } = parseArgs({ args: [...args], options });
    const given = new Map(Object.entries(values));
    return {
      kind: "flags",
      get: (name) => String(given.get(name) ?? defaults[name]),
      has: (name) => given.has(name),
    };
  } catch (error) {
    // parseArgs reports only the first invalid argument.
    if (!(error instanceof TypeError)) throw error;
    return { kind: "problems", problems: [`${error.message}; see --help`] };
  }
}

export function wholeNumber(name: string, text: string, max: number, problems: string[]): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    problems.push(`--${name} ${text}: must be a whole number from 1 to ${max}`);
  return value;
}

/** Ends with the first SIGINT or SIGTERM; the second has its ordinary effect. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stop.abort(new Error(`interrupted by ${signal}`)));
  }
  return stop.signal;
}
