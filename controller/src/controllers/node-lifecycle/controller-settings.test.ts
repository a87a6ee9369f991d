import { expect, onTestFinished, test } from "vitest";
import { LifecycleWorld } from "../../../test/support/node/lifecycle-world.ts";

test.each([
  "nodeMonitorPeriod",
  "nodeDeletionConfirmations",
  "nodeDeletionConfirmationPeriod",
  "nodeDeletionMaxPercent",
] as const)("cloud-node-lifecycle reads %s anew while it runs", async (name) => {
  const world = new LifecycleWorld();
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
