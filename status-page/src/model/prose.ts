/** Part of a sentence: text or code. */
export interface ProsePart {
  readonly text: string;
  readonly isCode: boolean;
}

/** Sentences of the controller put what is to be typed between backticks; one that has no partner is a letter like others. */
export function proseParts(text: string): readonly ProsePart[] {
  const parts = text.split("`");
  const isOdd = parts.length % 2 === 0;
  const paired = isOdd ? [...parts.slice(0, -2), parts.slice(-2).join("`")] : parts;
  return paired.map((part, index) => ({ text: part, isCode: index % 2 === 1 })).filter((part) => part.text !== "");
}
