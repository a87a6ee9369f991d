/** What keeps the process from being healthy or ready, check by check. */
export interface HealthCheck {
  /** Name in `?verbose` and in `/readyz/<name>`. */
  readonly name: string;
  /** undefined: good. Otherwise one line: what is wrong, where, and what to do. Answers at once, from memory. */
  problem(): string | undefined;
  /** What an operator should know all the same, for `?verbose`; one line. @default nothing */
  warning?(): string | undefined;
}

export interface HealthReport {
  readonly healthy: boolean;
  /** One line a check, as the API server writes them: `[+]name ok`, `[-]name failed: why`; ours: `[+]name ok, but: warning`. */
  readonly text: string;
}

/** Whether a page says why: one that everybody may read does not, as the API server's. */
export type Reasons = "shown" | "withheld";

/** Runs `checks`, leaving out those named in `excluded`. */
export function report(
  endpoint: string,
  checks: readonly HealthCheck[],
  excluded: readonly string[],
  reasons: Reasons = "shown",
): HealthReport {
  const results = checks
    .filter(({ name }) => !excluded.includes(name))
    .map((check) => ({ name: check.name, wrong: check.problem(), warning: check.warning?.() }));
  const healthy = results.every(({ wrong }) => wrong === undefined);
  const lines = results.map(({ name, wrong, warning }) => {
    if (wrong !== undefined) return `[-]${name} failed: ${reasons === "shown" ? wrong : "reason withheld"}`;
    return warning === undefined || reasons === "withheld" ? `[+]${name} ok` : `[+]${name} ok, but: ${warning}`;
  });
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name));
  const warning = unknown.length > 0 ? [`warn: no such check: ${unknown.join(", ")}`] : [];
  return { healthy, text: [...lines, ...warning, `${endpoint} check ${healthy ? "passed" : "failed"}`, ""].join("\n") };
}
