const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** The duration in upstream's FailedToCreateRoute, and request ids of the cloud. */
const VOLATILE = [
  [/after \d+(?:\.\d+)?(?:ns|µs|ms|s)/g, "after <duration>"],
  [/request [0-9a-z-]{6,}/g, "request <id>"],
] as const;

/** Names for values that differ from run to run. */
export class Aliases {
  readonly #names = new Map<string, string>();

  /** Only texts and numbers have a name; anything else is left out. */
  add(value: unknown, name: string): void {
    if ((typeof value === "string" && value !== "" && value !== "None") || typeof value === "number") {
      this.#names.set(String(value), name);
    }
  }

  replace(text: string): string {
    let replaced = text;
    // Longest first: one address may be the beginning of another.
    for (const [value, name] of [...this.#names].toSorted(([left], [right]) => right.length - left.length)) {
      replaced = replaceWhole(replaced, value, name);
    }
    for (const [pattern, name] of VOLATILE) replaced = replaced.replaceAll(pattern, name);
    return replaced.replaceAll(UUID, "<uid>").replaceAll(TIME, "<time>");
  }
}

/** Not inside a longer word or number. */
function replaceWhole(text: string, value: string, name: string): string {
  if (!text.includes(value)) return text;
  const escaped = value.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replaceAll(new RegExp(`(?<![\\w.:])${escaped}(?![\\w]|\\.\\d)`, "g"), name);
}
