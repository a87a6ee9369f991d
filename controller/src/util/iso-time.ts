/** The last moment that a date can be: ECMA-262, "Time Values and Time Range". */
const LAST_MS = 8.64e15;

/** A point in time as pages show it; `atMs` is wall clock. */
export function iso(atMs: number): string {
  return new Date(Math.min(atMs, LAST_MS)).toISOString();
}
