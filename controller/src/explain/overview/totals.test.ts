import { expect, test } from "vitest";
import { providerMetrics } from "../../provider/metrics.ts";
import { controllerMetrics } from "../../runtime/metrics.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { totalsOf } from "./totals.ts";

test("totals are those of the metrics, by provider and by controller", async () => {
  const metrics = new Metrics();
  const { callDurationSeconds } = providerMetrics(metrics);
  const controller = controllerMetrics(metrics)("cloud-node-controller", "cloud-node");
  const call = { provider: "one", method: "GetInstances", code: "OK", reason: "" };
  callDurationSeconds.observe(call, 1);
  callDurationSeconds.observe({ ...call, method: "GetRoutes" }, 2);
  callDurationSeconds.observe({ ...call, code: "UNAVAILABLE" }, 3);
  callDurationSeconds.observe({ ...call, provider: "two", code: "UNAVAILABLE" }, 3);
  controller.reconciled("done", 1);
  controller.reconciled("failed", 1);
  expect(await totalsOf(metrics)).toEqual({
    calls: { one: 3, two: 1 },
    failedCalls: { one: 1, two: 1 },
    reconciles: { "cloud-node-controller": 2 },
  });
});

test("nothing was counted where nothing counts", async () => {
  expect(await totalsOf(new Metrics())).toEqual({ calls: {}, failedCalls: {}, reconciles: {} });
});
