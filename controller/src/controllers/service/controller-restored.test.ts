import { afterEach, beforeEach, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { contractError } from "../../provider/model/errors.ts";

const UID = "uid-default-web";

let cloud: LoadBalancerCloud;
let world: ServiceHarness;

beforeEach(async () => {
  cloud = new LoadBalancerCloud();
  world = new ServiceHarness();
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
});
afterEach(() => world[Symbol.asyncDispose]());

test("service-lb serves a Service that comes back with its UID, as from a backup, before its load balancer was deleted", async () => {
  const before = world.store.get("web") ?? service("web");
  cloud.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "away") : undefined);
  world.store.put({ ...before, metadata: { ...before.metadata, finalizers: [], deletionTimestampMs: 1 } });
  await world.pass(1000);
  expect(cloud.changes.at(-1)).toBe(`delete ${UID}`);
  world.store.put(before);
  cloud.fail = () => undefined;
  await world.pass(60_000);
  expect([...cloud.kept.keys()]).toEqual([UID]);
  world.node("a");
  await world.pass(60_000);
  expect(cloud.kept.get(UID)?.nodes).toEqual(["a"]);
});
