import { isDeepStrictEqual } from "node:util";
import type { Options } from "../app/options.ts";
import { rows } from "./table.ts";

/** A setting that is not as before, as users write it. */
export interface OptionChange {
  /** `--node-deletion-span`. */
  readonly flag: string;
  readonly from: string;
  readonly to: string;
}

export interface OptionChanges {
  /** In force now. */
  readonly applied: readonly OptionChange[];
  /** As before until the process starts anew. */
  readonly needRestart: readonly OptionChange[];
}

/** The settings of a run, of which some may change while it lasts. */
export class LiveOptions {
  #values: Options;
  /** Reads as the settings in force at each moment: for whoever shall follow a change, and for nobody to copy. */
  readonly current: Options;

  constructor(initial: Options) {
    this.#values = initial;
    this.current = new Proxy(initial, {
      get: (_initial, key) => Reflect.get(this.#values, key),
    });
  }

  /** Puts what is reloadable of `wanted` in force, and says what became of each setting that differs. */
  apply(wanted: Options): OptionChanges {
    const applied: OptionChange[] = [];
    const needRestart: OptionChange[] = [];
    const next: Record<string, unknown> = {};
    for (const [name, { key, flag }] of rows) {
      const from: unknown = Reflect.get(this.#values, key);
      const to: unknown = key === "providerCallRate" ? callRates(this.#values, wanted) : Reflect.get(wanted, key);
      if (isDeepStrictEqual(from, to)) continue;
      const change = { flag: `--${name}`, from: String(flag.write(from)), to: String(flag.write(to)) };
      if (flag.reloadable === true) {
        applied.push(change);
        next[key] = to;
      } else {
        needRestart.push(change);
      }
    }
    this.#values = { ...this.#values, ...next };
    return { applied, needRestart };
  }
}

/** The list of providers waits for a restart: one that runs and has left the file keeps the rate that it has. */
function callRates(inForce: Options, wanted: Options): Options["providerCallRate"] {
  const isIn = (options: Options, provider: string): boolean => options.provider.some(({ name }) => name === provider);
  return [
    ...wanted.providerCallRate.filter(({ provider }) => isIn(inForce, provider)),
    ...inForce.providerCallRate.filter(({ provider }) => !isIn(wanted, provider)),
  ];
}
