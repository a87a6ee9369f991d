/** Stand in recordings for what a replay says again: where it is, and a time at which its tokens end. */
export const PLACES = { url: "{replay:url}", later: "{replay:later}", token: "{replay:token}" } as const;

/** What may never be in a recording. */
export const HIDDEN = "{hidden}";

/** Keys whose values are secrets, or drawn by lot for each token, at any depth. */
const secretKeys = new Set(["secret", "password", "adminPass", "audit_ids"]);

/** Moments in which nothing is distinguished. */
const timeForm = /\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d+)?/g;
const someTime = (separator: string) => `2026-01-02${separator}03:04:05`;

const idForm = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** Ids of Keystone, and those that Nova makes of hosts, which are longer. */
const hexForm = /\b(?:[0-9a-f]{56}|[0-9a-f]{32})\b/g;
const macForm = /\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b/g;

/** Ids of this form are scenarios' own and stay. */
const givenId = /^00000000-0000-4000-8000-/;

const hexDigits = (number: number, length: number): string => number.toString(16).padStart(length, "0");

/** What is known of the cloud that is recorded. */
export interface Surroundings {
  /** URLs of services to what a recording calls them: `http://127.0.0.1:8774` to `{replay:url}/compute`. */
  readonly urls: ReadonlyMap<string, string>;
  /** Words that are secret in every place. */
  readonly secrets: ReadonlySet<string>;
  /** Names that are made up for each recording, to what a recording has instead. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  /** Beginnings of addresses that the cloud hands out as it likes: `203.0.113.`. */
  readonly handedOut?: readonly string[] | undefined;
}

/** Makes what passed the same for each recording: ids are numbered as they appear, times are one time, secrets are gone. */
export class Normalizer {
  readonly #surroundings: Surroundings;
  readonly #numbers = new Map<string, Map<string, number>>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** A value of JSON. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item: unknown) => this.value(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [this.text(key), this.#field(key, field)] as const),
    );
  }

  text(text: string): string {
    const { urls, secrets, names = [] } = this.#surroundings;
    let plain = text;
    for (const secret of secrets) plain = plain.replaceAll(secret, HIDDEN);
    for (const [url, name] of [...urls, ...names]) plain = plain.replaceAll(url, name);
    plain = plain
      .replaceAll(timeForm, (_all, separator: string) => someTime(separator))
      .replaceAll(idForm, (id) =>
        givenId.test(id) ? id : `00000000-0000-4000-8000-${hexDigits(this.#number("id", id), 12)}`,
      )
      .replaceAll(hexForm, (id) => hexDigits(this.#number("hex", id), id.length))
      .replaceAll(macForm, (mac) => `fa:16:3e:00:00:${hexDigits(this.#number("mac", mac), 2)}`);
    return this.#addresses(plain);
  }

  #field(key: string, value: unknown): unknown {
    if (secretKeys.has(key)) return HIDDEN;
    return key === "expires_at" && typeof value === "string" ? PLACES.later : this.value(value);
  }

  #addresses(text: string): string {
    let plain = text;
    for (const beginning of this.#surroundings.handedOut ?? []) {
      // Ranges stay as they are.
      const form = new RegExp(`\\b${beginning.replaceAll(".", "\\.")}\\d{1,3}\\b(?!/)`, "g");
      plain = plain.replaceAll(form, (address) => `${beginning}${100 + this.#number(beginning, address)}`);
    }
    return plain;
  }

  /** From 1 on, in the order of appearance. */
  #number(kind: string, text: string): number {
    const numbers = this.#numbers.get(kind) ?? new Map<string, number>();
    this.#numbers.set(kind, numbers);
    const number = numbers.get(text) ?? numbers.size + 1;
    numbers.set(text, number);
    return number;
  }
}
