/** The same text in one piece. V8 keeps a concatenated text as a tree: about 700 bytes for a random UUID, which takes 56 in one piece. */
export function flatText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** `text`, cut at `maxLength`. The result does not keep the rest in memory. */
export function beginningOf(text: string, maxLength: number): string {
  return text.length > maxLength ? flatText(`${text.slice(0, maxLength)} …`) : text;
}

/**
 * One line for events and conditions: what happened, when it is retried, and how to fix it. A line that is too long loses the end of `what`.
 * @param remedy an instruction; undefined: no action is needed
 */
export function hinted(what: string, nextTry: string, remedy: string | undefined, maxLength: number): string {
  const hint = remedy === undefined ? ` (${nextTry})` : ` (${nextTry}). To fix: ${remedy}`;
  const left = maxLength - hint.length - 1;
  return `${what.length > left ? `${what.slice(0, left)}…` : what}${hint}`;
}

/** The latest Date: ECMA-262, "Time Values and Time Range". */
const LAST_MS = 8.64e15;

/** @param atMs wall clock */
export function iso(atMs: number): string {
  return new Date(Math.min(atMs, LAST_MS)).toISOString();
}

/** Masks user and password in an address. Matches up to the last @: a password may contain @ and slashes. */
export function withoutUserinfo(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1***@");
}

/** What an error text labels as the ID of one attempt: `RequestID: 3f…`, `x-amz-request-id=…`, `(Correlation ID "…")`. */
const LABELED_ID =
  /\b((?:[\w-]+[-_ ])?(?:request|correlation|trace|activity|transaction)[-_ ]?ids?\b["']?(?:\s*[:=]\s*|\s+(?:is\s+)?)["']?)(?=[\w./+=-]*\d)[\w./+=-]*[\w+=]/gi;

/** Text that may differ in each attempt: UUIDs, times, long hexadecimal and mixed IDs, numbers of eight digits or more. */
const ID_OR_TIME = new RegExp(
  [
    String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?`,
    String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
    String.raw`\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b`,
    String.raw`\b(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])[\w+/=-]{16,}`,
  ].join("|"),
  "gi",
);

/** `text` without the IDs of attempts: each attempt would otherwise write another text into an event or a condition. */
export function withoutRequestIDs(text: string): string {
  return text.replace(LABELED_ID, "$1…");
}

/**
 * Equal for two texts that differ only in IDs and times.
 * @param kept what the text is about, such as the names of nodes: their parts are not replaced
 */
export function withoutIDs(text: string, kept: readonly string[] = []): string {
  return text.replace(ID_OR_TIME, (part) => (kept.some((name) => name.includes(part)) ? part : "…"));
}
