import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { serviceMetrics } from "./metrics.ts";
import { NodeSync } from "./sources.ts";

function setUp() {
  const metrics = new Metrics();
  const clock = new FakeClock();
  const sync = new NodeSync({ metrics: serviceMetrics(metrics), clock });
  const samples = async () => {
    const text = await metrics.text();
    const value = (suffix: string) =>
      new RegExp(`^service_controller_nodesync_latency_seconds_${suffix} (.+)$`, "m").exec(text)?.[1];
    return { count: value("count"), sum: value("sum") };
  };
  return { clock, sync, samples };
}

test("a pass is measured until the last Service it woke was tried", async () => {
  const { clock, sync, samples } = setUp();
  sync.begin(["a", "b"]);
  await clock.advance(2000);
  sync.tried("a");
  sync.tried("a");
  sync.tried("other");
  expect(await samples()).toEqual({ count: "0", sum: "0" });
  await clock.advance(3000);
  sync.tried("b");
  expect(await samples()).toEqual({ count: "1", sum: "5" });
});

test("a pass that wakes no Service is a sample too", async () => {
  const { sync, samples } = setUp();
  sync.begin([]);
  expect(await samples()).toEqual({ count: "1", sum: "0" });
});

test("a pass that overtakes another goes on from its start", async () => {
  const { clock, sync, samples } = setUp();
  sync.begin(["a"]);
  await clock.advance(1000);
  sync.begin(["b"]);
  sync.tried("a");
  await clock.advance(1000);
  sync.tried("b");
  expect(await samples()).toEqual({ count: "1", sum: "2" });
});
