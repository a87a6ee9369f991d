/** A point in time as pages show it; `atMs` is wall clock. */
export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
