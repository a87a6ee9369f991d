import { expect, test } from "vitest";
import { ingress, service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";

/** As `kubectl edit --subresource=status` does it. */
function overwrite({ store }: ServiceHarness, ...points: readonly string[]): void {
  const before = store.get("web") ?? service("web");
  store.put({ ...before, status: { conditions: [], loadBalancer: { ingress: points.map((ip) => ingress({ ip })) } } });
}

const shown = ({ store }: ServiceHarness) => store.get("web")?.status.loadBalancer.ingress.map(({ ip }) => ip);

async function served(world: ServiceHarness, cloud: LoadBalancerCloud): Promise<readonly string[]> {
  world.node("first");
  await world.start([cloud.provider()]);
  world.store.put(service("web"));
  await world.pass(1000);
  return shown(world) ?? [];
}

test("service-lb restores an address that another client removed from the status, without a call to the cloud", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  const wanted = await served(world, cloud);
  expect(wanted).toHaveLength(1);
  const calls = cloud.calls.length;
  overwrite(world);
  await world.pass(1);
  expect(shown(world)).toEqual(wanted);
  expect(world.store.get("web")?.status.conditions).toMatchObject([{ status: "True", reason: "Ready" }]);
  expect(cloud.calls).toHaveLength(calls);
});

test("service-lb restores the address at most twice a minute if another client insists", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  const wanted = await served(world, cloud);
  const before = world.store.writes.length;
  const insisting = 10;
  for (let second = 0; second < insisting * 60; second += 1) {
    overwrite(world, "198.51.100.9");
    await world.pass(1000);
  }
  expect(world.store.writes.length - before).toBeLessThanOrEqual(insisting * 2 + 1);
  await world.pass(30_000);
  expect(shown(world)).toEqual(wanted);
});

test("service-lb wakes nothing by its own writes of the status", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  await served(world, cloud);
  expect(world.store.writes).toEqual(["web", "web"]);
});
