/** Longest message of an error, in bytes of UTF-8. Contract, section 3.11. */
export const maxMessageBytes = 1_024;

/** Cuts a text to so many bytes of UTF-8, never inside a character, and shows that it was cut. */
export const cutToBytes = (text: string, maxBytes: number): string =>
  cutWhile(text.toWellFormed(), (candidate) => Buffer.byteLength(candidate) <= maxBytes);

/**
 * Cuts a text so that its percent-encoded form, as `grpc-message` travels, is at most so many bytes. Half a surrogate
 * pair makes grpc-js throw where nobody can catch it, so the text is made well formed first.
 */
export const cutToHeaderBytes = (text: string, maxBytes: number): string =>
  cutWhile(text.toWellFormed(), (candidate) => encodeURI(candidate).length <= maxBytes);

const cutWhile = (text: string, fits: (candidate: string) => boolean): string => {
  if (fits(text)) return text;
  const characters = Array.from(text.slice(0, 8_192));
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(`${characters.slice(0, middle).join("")}…`)) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("")}…`;
};
