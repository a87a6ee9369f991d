import { expect, test } from "vitest";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { CircuitBreakerReport, nodeLifecycleMetrics } from "./metrics.ts";

test("CircuitBreakerReport says each time once when deletions stop and when they may go on, apart by provider", async () => {
  const log = new FakeLog();
  const metrics = new Metrics();
  const report = new CircuitBreakerReport(nodeLifecycleMetrics(metrics), log);
  const circuitBreaker = { nodes: 100, isUnknown: false, maxPercent: 10, exempt: false };
  for (const gone of [10, 11, 50, 10, 0, 11]) report.observe("acme", { ...circuitBreaker, gone });
  report.observe("other", { ...circuitBreaker, gone: 3 });
  expect(log.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    "error: Deletion circuit breaker opened; see docs/explanation/deletion-guard.md",
    "info: Deletion circuit breaker closed",
    "error: Deletion circuit breaker opened; see docs/explanation/deletion-guard.md",
  ]);
  expect(await metrics.value("cloudwire_node_deletion_circuit_open", { provider: "acme" })).toBe(1);
  expect(await metrics.value("cloudwire_node_deletion_circuit_nodes", { provider: "acme" })).toBe(11);
  expect(await metrics.value("cloudwire_node_deletion_circuit_open", { provider: "other" })).toBe(0);
  expect(await metrics.value("cloudwire_node_deletion_circuit_nodes", { provider: "other" })).toBe(3);
});
