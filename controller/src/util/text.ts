/**
 * The same text in one piece. V8 keeps a text that was put together as a tree of its pieces, 32 bytes each: a random UUID is some 700
 * bytes so, and 56 in one piece. For what is kept by the thousand.
 */
export function flatText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** As much of a text as is worth keeping; a text that is cut must not keep the whole of it in memory. */
export function beginningOf(text: string, maxLength: number): string {
  return text.length > maxLength ? flatText(`${text.slice(0, maxLength)} …`) : text;
}
