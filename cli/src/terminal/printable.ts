/** Clouds and users of the cluster write some of what is shown: a control character would be the terminal's, a turned direction hides words. */
const UNPRINTABLE = /[\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu;

/** A text of one line with nothing in it that moves a terminal. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, " ");
}

/** Likewise of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
