import { expect, onTestFinished, test } from "vitest";
import { LifecycleHarness } from "../../../test/support/node/lifecycle-harness.ts";

test.each([
  "nodeMonitorPeriod",
  "nodeDeletionConfirmations",
  "nodeDeletionConfirmationPeriod",
  "nodeDeletionMaxPercent",
  "nodeDeletionProtection",
] as const)("cloud-node-lifecycle reads %s again while it runs", async (name) => {
  const world = new LifecycleHarness();
  onTestFinished(() => world.stop());
  world.node("a");
  world.says.set("a", "absent");
  world.start();
  await world.clock.advance(0);
  const before = world.options[name];
  let reads = 0;
  Object.defineProperty(world.options, name, { get: () => (reads++, before) });
  await world.clock.advance(60_000);
  expect(reads).toBeGreaterThan(0);
});
