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

/** Equal for two texts that differ only in IDs and times. */
export function withoutIDs(text: string): string {
  return text.replace(ID_OR_TIME, "…");
}
