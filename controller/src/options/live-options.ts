import { isDeepStrictEqual } from "node:util";
import type { FlagTable } from "./table.ts";

/** A setting that is not as before, as users write it. */
export interface OptionChange {
  /** `--node-deletion-confirmation-period`. */
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
export class LiveOptions<Options extends object> {
  readonly #table: FlagTable<Options>;
  readonly #settle: (inForce: Options, wanted: Options) => Options;
  #values: Options;
  /** Reads as the settings in force at each moment: for whoever shall follow a change, and for nobody to copy. */
  readonly current: Options;

  /** @param settle what may be wanted while those are in force */
  constructor(
    table: FlagTable<Options>,
    initial: Options,
    settle: (inForce: Options, wanted: Options) => Options = (_, wanted) => wanted,
  ) {
    this.#table = table;
    this.#settle = settle;
    this.#values = initial;
    this.current = new Proxy(initial, {
      get: (_initial, key) => Reflect.get(this.#values, key),
    });
  }

  /** Puts what is reloadable of `given` in force, and says what became of each setting that differs. */
  apply(given: Options): OptionChanges {
    const wanted = this.#settle(this.#values, given);
    const applied: OptionChange[] = [];
    const needRestart: OptionChange[] = [];
    const next: Record<string, unknown> = {};
    for (const { name, key, flag } of this.#table.byName.values()) {
      const from: unknown = Reflect.get(this.#values, key);
      const to: unknown = Reflect.get(wanted, key);
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
