/**
 * One line for events and conditions: what it is, when it is tried again, and what somebody can do. What is too long is cut where it
 * matters least.
 * @param remedy clause of an instruction; undefined: nothing can be done, it passes by itself
 */
export function hinted(what: string, nextTry: string, remedy: string | undefined, maxLength: number): string {
  const hint = remedy === undefined ? ` (${nextTry})` : ` (${nextTry}; to do: ${remedy})`;
  const left = maxLength - hint.length - 1;
  return `${what.length > left ? `${what.slice(0, left)}…` : what}${hint}`;
}
