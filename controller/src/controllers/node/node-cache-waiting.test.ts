import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { nodeMetrics } from "./metrics.ts";
import { WaitingNodes } from "./node-cache.ts";

const MINUTE_MS = 60_000;

function setUp() {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const nodes = new WaitingNodes(nodeMetrics(metrics), clock);
  const provider = () => nodes.add("a", { reason: "provider", topic: "provider", reportAfterMs: 2 * MINUTE_MS });
  const absent = (topic = "no such machine") => nodes.add("a", { reason: "absent", topic, reportAfterMs: 0 });
  const counted = async (reason: string) => metrics.value("cloudwire_nodes_uninitialized", { reason });
  return { clock, metrics, nodes, provider, absent, counted };
}

test("add() counts tries, and reports what has lasted for as long as given", async () => {
  const { clock, provider } = setUp();
  expect(provider()).toEqual({ failures: 1, report: false, reportInMs: 120_000 });
  await clock.advance(119_999);
  expect(provider()).toEqual({ failures: 2, report: false, reportInMs: 1 });
  await clock.advance(1);
  expect(provider()).toEqual({ failures: 3, report: true, reportInMs: 0 });
});

test("add() reports the same again after half an hour and not before", async () => {
  const { clock, absent } = setUp();
  const reports = [absent().report, absent().report];
  await clock.advance(30 * MINUTE_MS - 1);
  reports.push(absent().report);
  await clock.advance(1);
  reports.push(absent().report, absent().report);
  expect(reports).toEqual([true, false, false, true, false]);
});

test("add() reports another thing at once, and remembers the first", () => {
  const { absent } = setUp();
  expect([absent("x").report, absent("y").report, absent("x").report]).toEqual([true, true, false]);
});

test("add() forgets what it reported when there was too much of it", () => {
  const { absent } = setUp();
  for (let topic = 0; topic < 16; topic += 1) absent(`topic ${topic}`);
  expect([absent("topic 0").report, absent("one more").report, absent("topic 0").report]).toEqual([false, true, true]);
});

test("the metrics show each waiting node under its last reason", async () => {
  const { nodes, metrics, provider, absent, counted } = setUp();
  provider();
  expect([await counted("provider"), await counted("absent")]).toEqual([1, undefined]);
  absent();
  absent();
  nodes.add("b", { reason: "absent", topic: "", reportAfterMs: 0 });
  expect([await counted("provider"), await counted("absent")]).toEqual([0, 2]);
  nodes.add("b", { reason: "unowned", topic: "", reportAfterMs: 0 });
  expect([await counted("absent"), await counted("unowned"), await metrics.value("cloudwire_nodes_unowned")]).toEqual([
    1, 1, 1,
  ]);
  nodes.forget("b");
  nodes.forget("b");
  nodes.forget("a");
  expect([await counted("absent"), await counted("unowned"), await metrics.value("cloudwire_nodes_unowned")]).toEqual([
    0, 0, 0,
  ]);
});

test("forget() starts again", async () => {
  const { clock, nodes, provider } = setUp();
  provider();
  await clock.advance(MINUTE_MS);
  nodes.forget("a");
  expect(provider()).toEqual({ failures: 1, report: false, reportInMs: 120_000 });
});
