/** What Go's strconv.ParseBool takes for false. */
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "false", "False", "FALSE"]);

/** Labels and annotations that keep something from happening are in force unless they clearly say no: a word misspelt does no harm. */
export function isClearlyFalse(value: string): boolean {
  return FALSE.has(value);
}
