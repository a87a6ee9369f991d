import { isDeepStrictEqual } from "node:util";

/**
 * Identifies equal queries of one call by their name and, if names are equal, by all other fields. Names differ nearly
 * always: a key of all hints for every Node would cost more than its look-up.
 */
export class RequestDedup<Question extends { readonly name: string }> {
  readonly #byName = new Map<string, Question[]>();

  /** Questions get the same key when all that they say is the same. */
  keyOf(question: Question): string {
    const { name } = question;
    const namesakes = this.#byName.get(name);
    if (namesakes === undefined) {
      this.#byName.set(name, [question]);
      return `0 ${name}`;
    }
    const known = namesakes.findIndex((namesake) => isDeepStrictEqual(namesake, question));
    return `${known >= 0 ? known : namesakes.push(question) - 1} ${name}`;
  }
}
