import type { RuleName } from "./file.ts";

/** Places that break a rule, and why they may. */
export interface Exception {
  readonly rule: RuleName;
  readonly reason: string;
  /** A file below the checkout's top, of `rows` with the row that it imports: `path → row`; of `directory-size` a directory. */
  readonly places: readonly string[];
}

/** May only shrink: a place that needs none any more fails the check. */
export const EXCEPTIONS: readonly Exception[] = [];
