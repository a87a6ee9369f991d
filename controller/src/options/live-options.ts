import { isDeepStrictEqual } from "node:util";
import type { Options } from "./options.ts";
import { rows } from "./rows.ts";

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

/** Settings that follow the file only together with those that they are about, which wait for a restart. */
const ABOUT: Readonly<Record<string, string>> = { providerCallRate: "provider" };

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
    const differs = (key: string): boolean =>
      !isDeepStrictEqual(Reflect.get(this.#values, key), Reflect.get(wanted, key));
    for (const [name, { key, flag }] of rows) {
      if (!differs(key)) continue;
      const [from, to]: readonly unknown[] = [Reflect.get(this.#values, key), Reflect.get(wanted, key)];
      const change = { flag: `--${name}`, from: String(flag.write(from)), to: String(flag.write(to)) };
      const about = ABOUT[key];
      if (flag.reloadable === true && (about === undefined || !differs(about))) {
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
