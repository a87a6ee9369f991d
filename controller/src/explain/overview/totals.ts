import type { Metrics } from "../../telemetry/metrics.ts";
import type { Totals } from "./samples.ts";

const CALLS = "cloudwire_provider_call_duration_seconds";
const RECONCILES = "cloudwire_reconciles_total";

/** What was counted since the start, of the metrics that count it anyhow. */
export async function totalsOf(metrics: Metrics): Promise<Totals> {
  const [calls, failedCalls, reconciles] = await Promise.all([
    metrics.sums(CALLS, "provider"),
    metrics.sums(CALLS, "provider", ({ code }) => code !== "OK"),
    metrics.sums(RECONCILES, "controller"),
  ]);
  return { calls, failedCalls, reconciles };
}
