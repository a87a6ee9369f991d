import { isDeepStrictEqual } from "node:util";
import type { FlagTable } from "./table.ts";

export interface OptionChange {
  /** `--node-deletion-confirmation-period`. */
  readonly flag: string;
  readonly from: string;
  readonly to: string;
}

export interface OptionChanges {
  readonly applied: readonly OptionChange[];
  readonly needRestart: readonly OptionChange[];
}

/** The settings of a process, some of which can change while it runs. */
export class LiveOptions<Options extends object> {
  readonly #table: FlagTable<Options>;
  readonly #settle: (inForce: Options, wanted: Options) => Options;
  #values: Options;
  /** Always has the current values; a copy does not. */
  readonly current: Options;

  /** @param settle which of the given settings may take effect */
  constructor(
    table: FlagTable<Options>,
    initial: Options,
    settle: (inForce: Options, wanted: Options) => Options = (_, wanted) => wanted,
  ) {
    this.#table = table;
    this.#settle = settle;
    this.#values = initial;
    this.current = new Proxy(initial, { get: (_initial, key) => Reflect.get(this.#values, key) });
  }

  /** Applies the reloadable settings of `given`. */
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
