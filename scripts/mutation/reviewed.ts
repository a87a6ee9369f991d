import type { Reviewed } from "./report.ts";

/** Survivors that somebody has looked at, with the reason why no test could or should notice them. */
export const REVIEWED: readonly Reviewed[] = [];
