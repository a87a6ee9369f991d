import { expect, test } from "vitest";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";

test("sweeps for drift follow a period that is turned on, changed and turned off while service-lb runs", async () => {
  await using world = new ServiceHarness();
  const cloud = new LoadBalancerCloud();
  const lists = (): number => cloud.calls.filter((call) => call === "list").length;
  world.options.loadBalancerDriftPeriod = 0;
  await world.start([cloud.provider()]);
  await world.pass(600_000);
  expect(lists()).toBe(0);
  world.options.loadBalancerDriftPeriod = 120_000;
  await world.pass(240_000);
  expect(lists()).toBe(2);
  world.options.loadBalancerDriftPeriod = 300_000;
  await world.pass(600_000);
  expect(lists()).toBe(4);
  world.options.loadBalancerDriftPeriod = 0;
  await world.pass(600_000);
  expect(lists()).toBe(4);
});
