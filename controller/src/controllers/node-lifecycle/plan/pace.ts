/** How often a Node that is not Ready is looked at. */
export interface PaceRules {
  /** --node-monitor-period. */
  readonly periodMs: number;
  /** Never less often: before any Node goes, every other one that is not Ready has been looked at too, and counts for the brake. */
  readonly maxMs: number;
}

/** The wait after the `looks`-th look in a row that showed the same, from 1. */
export function untilNextLookMs(looks: number, rules: PaceRules, monotonicMs: number): number {
  const { periodMs, maxMs } = rules;
  const waitMs = Math.min(periodMs * 2 ** Math.min(looks - 1, 30), Math.max(maxMs, periodMs));
  // On the ticks of one clock, so that Nodes that failed one after the other share their calls from then on.
  const tick = Math.round((monotonicMs + waitMs) / periodMs);
  return Math.max(tick * periodMs - monotonicMs, periodMs / 2);
}
