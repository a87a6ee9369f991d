import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { NO_RULES, type Provider } from "../../provider/model/provider.ts";

const UID = "uid-default-web";

const DELAY_MS = 10_000;

/** A provider whose changes take {@link DELAY_MS}. */
function slow(provider: Provider, { clock }: ServiceHarness): Provider {
  const { client } = provider;
  const pause = () => new Promise<void>((resolve) => void clock.schedule(DELAY_MS, resolve));
  return {
    ...provider,
    client: {
      ...client,
      ensureLoadBalancer: (input, options) => pause().then(() => client.ensureLoadBalancer(input, options)),
      updateLoadBalancerNodes: (input, options) => pause().then(() => client.updateLoadBalancerNodes(input, options)),
    },
  };
}

test("service-lb gives a load balancer the nodes that changed while it was made", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.node("first");
  await world.start([slow(cloud.provider(), world)]);
  world.store.put(service("web"));
  await world.pass(1000);
  world.node("second");
  await world.pass(3 * DELAY_MS);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first", "second"]);
  expect(cloud.changes).toEqual([`ensure ${UID}`, `update ${UID}`]);
});

test("service-lb takes a node out again that came and went while its load balancer was updated", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.node("first");
  world.store.put(service("web"));
  await world.start([slow(cloud.provider(), world)]);
  await world.pass(2 * DELAY_MS);
  world.node("second");
  await world.pass(DELAY_MS / 2);
  world.nodes.delete("second");
  await world.pass(3 * DELAY_MS);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first"]);
  expect(cloud.changes).toEqual([`ensure ${UID}`, `update ${UID}`, `update ${UID}`]);
});

test("service-lb gives a load balancer that is made while nodes join those of before, then all in one update", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.node("first");
  world.store.put(service("old"));
  await world.start([cloud.provider()]);
  await world.pass(5000);
  world.node("second");
  world.store.put(service("new"));
  await world.pass(900);
  expect(cloud.kept.get("uid-default-new")?.nodes).toEqual(["first"]);
  world.node("third");
  await world.pass(5000);
  const all = ["first", "second", "third"];
  expect([...cloud.kept.values()].map(({ nodes }) => nodes)).toEqual([all, all]);
  expect(cloud.changes.filter((call) => call.startsWith("update"))).toHaveLength(2);
});

test.each([
  ["a node alone", 1, 0, [1000]],
  ["nodes every half second", 4, 500, [2500]],
  ["nodes every two seconds", 3, 2000, [1000, 3000, 5000]],
  ["nodes without end", 30, 500, [5000, 10_000, 15_000]],
])("service-lb updates a load balancer for %s after they have come", async (_, count, everyMs, updatedAtMs) => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.node("first");
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
  await world.pass(5000);
  const [startMs, updates]: [number, number[]] = [world.clock.monotonicMs(), []];
  cloud.fail = () => {
    updates.push(world.clock.monotonicMs() - startMs);
    return undefined;
  };
  for (let index = 0; index < count; index += 1) {
    world.node(`late-${index}`);
    await world.pass(everyMs);
  }
  await world.pass(5000);
  expect(updates).toEqual(updatedAtMs);
  expect(cloud.kept.get(UID)?.nodes).toHaveLength(count + 1);
});

test("service-lb gives no load balancer a node that has just gone", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  world.node("first");
  world.node("second");
  world.store.put(service("old"));
  await world.start([cloud.provider()]);
  await world.pass(5000);
  world.nodes.delete("second");
  world.store.put(service("web"));
  await world.pass(100);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first"]);
});

test("service-lb leaves a load balancer its nodes when another provider claimed them for a while by mistake", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  const prefixed = (prefix: string) =>
    info({ providerIdPrefixes: [prefix], capabilities: { loadBalancers: undefined } });
  let declared = prefixed("rival://");
  const rival = {
    ...idleProvider("rival", declared),
    get info() {
      return declared;
    },
  };
  world.node("first");
  world.store.put(service("web"));
  await world.start([cloud.provider(), rival]);
  await world.pass(5000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first"]);
  declared = prefixed("acme://");
  world.ready();
  // In the meantime the owner of nodes is unknown.
  world.node("second");
  await world.pass(5000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first"]);
  declared = prefixed("rival://");
  world.ready();
  await world.pass(5000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first", "second"]);
});

test("service-lb gives no load balancer after a restart the nodes of a provider that is a moment slower", async () => {
  const cloud = new LoadBalancerCloud();
  await using world = new ServiceHarness();
  const declared = info({ providerIdPrefixes: ["acme://b/"], capabilities: { loadBalancers: undefined } });
  let answer: typeof declared | undefined = declared;
  const longer = {
    ...idleProvider("longer", undefined),
    get info() {
      return answer;
    },
  };
  world.rules = { ...NO_RULES, isSettled: () => false };
  world.node("first");
  world.node("b/second");
  world.store.put(service("web"));
  await world.start([cloud.provider(), longer]);
  await world.pass(5000);
  answer = undefined;
  await world.restart();
  await world.pass(5000);
  answer = declared;
  world.ready();
  await world.pass(5000);
  expect(cloud.changes).toEqual([`ensure ${UID}`]);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["first"]);
});
