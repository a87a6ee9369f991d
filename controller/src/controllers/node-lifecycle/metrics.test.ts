import { expect, onTestFinished, test } from "vitest";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { absent, lost, present } from "../../../test/support/lifecycle-builders.ts";
import { LifecycleHarness } from "../../../test/support/node/lifecycle-harness.ts";
import { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { CircuitBreakerReport, callResults, countedReader, nodeLifecycleMetrics } from "./metrics.ts";

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

const failed = (fields: Partial<ProviderError>): InstanceResult => ({
  kind: "unknown",
  error: new ProviderError({ message: "no", code: "UNAVAILABLE", ...fields }),
});

test.each<[what: string, result: InstanceResult, results: object]>([
  ["a running instance", present("running"), { instance_exists: "success", instance_shutdown: "success" }],
  ["a stopped instance", present("stopped"), { instance_exists: "success", instance_shutdown: "success" }],
  [
    "an instance without state",
    present("unknown"),
    { instance_exists: "success", instance_shutdown: "not_implemented" },
  ],
  ["no instance", absent(), { instance_exists: "instance_not_found" }],
  ["a failed call", failed({}), { instance_exists: "error" }],
  ["a canceled call", failed({ code: "CANCELLED" }), { instance_exists: "canceled" }],
  ["a missing RPC", failed({ code: "UNIMPLEMENTED" }), { instance_exists: "not_implemented" }],
  ["a call that the budget delays", failed({ isClientThrottled: true }), {}],
  ["another provider's Node", { kind: "notOwned", message: "other" }, {}],
])("callResults() of %s are those of upstream's calls (case V-3)", (_what, result, results) => {
  expect(callResults(result)).toEqual(results);
});

test("countedReader() counts a lookup that is aborted as canceled (case V-3)", async () => {
  const metrics = new Metrics();
  const aborted = new Error("stop");
  const reader = countedReader({ get: () => Promise.reject(aborted) }, nodeLifecycleMetrics(metrics));
  await expect(reader.get(lost(), { signal: AbortSignal.abort(), maxDataAgeMs: 0 })).rejects.toBe(aborted);
  const labels = { operation: "instance_exists", result: "canceled" };
  expect(await metrics.value("cloud_node_lifecycle_controller_cloud_provider_calls_total", labels)).toBe(1);
});

test("the controller observes each lookup of a Node that is not Ready under upstream's names (case V-3)", async () => {
  const world = new LifecycleHarness();
  onTestFinished(() => world.stop());
  for (const name of ["a", "b", "c"]) world.node(name);
  world.ready("c");
  world.says.set("b", "stopped");
  world.start();
  await world.clock.advance(1000);
  const calls = "cloud_node_lifecycle_controller_cloud_provider_calls_total";
  expect(await world.metrics.sums(calls, "operation")).toEqual({ instance_exists: 2, instance_shutdown: 2 });
  expect(await world.metrics.sums(calls, "result")).toEqual({ success: 4 });
  expect(await world.metrics.text()).toContain(
    "cloud_node_lifecycle_controller_monitor_nodes_duration_seconds_count 2\n",
  );
});
