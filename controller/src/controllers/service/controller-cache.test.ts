import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";

const UID = "uid-default-web";

let cloud: LoadBalancerCloud;
let world: ServiceHarness;

beforeEach(() => {
  cloud = new LoadBalancerCloud("acme");
  world = new ServiceHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("service-lb and a cache that is behind", () => {
  test("asks once for a deletion, though the cache still shows the finalizer that it has taken off", async () => {
    world.store.put(service("web"));
    await world.start([cloud.provider()]);
    const known = world.store.get("web");
    if (known === undefined) throw new Error("there is no Service");
    world.store.put({ ...known, metadata: { ...known.metadata, deletionTimestampMs: 1 } });
    world.store.lag();
    await world.pass(1000);
    expect(world.store.get("web")).toBeUndefined();
    // Whatever wakes it: a provider that connects, a node, a second event.
    world.ready();
    await world.pass(60_000);
    world.store.catchUp();
    await world.pass(60_000);
    expect(cloud.changes).toEqual([`ensure ${UID}`, `delete ${UID}`]);
    expect(world.reported.filter((reported) => reported.startsWith("DeletedLoadBalancer"))).toHaveLength(1);
  });
});
