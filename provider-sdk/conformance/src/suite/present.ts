import { CheckSkipped } from "./failure.ts";
import { codeName } from "../endpoint/status.ts";

/** Refusals that leave the cloud as it was. */
const refusals: ReadonlySet<string> = new Set([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
]);

/** What may be at the cloud at this moment, and no more of it than the vendor allows. */
export class Present {
  readonly #limit: number;
  readonly #keys = new Set<string>();

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#keys.size;
  }

  /** Before a call that makes these; answers which of them are new. Throws a CheckSkipped where they would be too many. */
  making(keys: readonly string[]): readonly string[] {
    const fresh = [...new Set(keys)].filter((key) => !this.#keys.has(key));
    const wanted = this.#keys.size + fresh.length;
    if (fresh.length > 0 && wanted > this.#limit)
      throw new CheckSkipped(
        `needs ${wanted} things at the cloud at once, and limits.maxResources is ${this.#limit}`,
        "limit",
      );
    for (const key of fresh) this.#keys.add(key);
    return fresh;
  }

  /** The call was refused: what it would have made is not there. */
  refused(fresh: readonly string[], code: number): void {
    if (refusals.has(codeName(code))) this.gone(fresh);
  }

  gone(keys: readonly string[]): void {
    for (const key of keys) this.#keys.delete(key);
  }
}
