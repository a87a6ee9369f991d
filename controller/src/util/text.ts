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

/** The last moment that a date can be: ECMA-262, "Time Values and Time Range". */
const LAST_MS = 8.64e15;

/** A point in time as pages show it; `atMs` is wall clock. */
export function iso(atMs: number): string {
  return new Date(Math.min(atMs, LAST_MS)).toISOString();
}

/**
 * An address as messages may show it: without the user and the password that somebody wrote into it. Up to the last @, for a password
 * may hold one, or a slash.
 */
export function withoutUserinfo(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1***@");
}
