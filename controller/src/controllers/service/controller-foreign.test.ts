import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service, type ServiceParts } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { contractError } from "../../provider/model/errors.ts";
import { NO_RULES, type Provider } from "../../provider/model/provider.ts";

const CLASS = "b.example.com/nlb";

let world: ServiceHarness;

beforeEach(() => {
  world = new ServiceHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

const silent = (): Provider => ({
  ...new LoadBalancerCloud("a").provider(),
  info: undefined,
  unavailable: contractError("PROVIDER_STARTING", "not yet"),
});

function put(loadBalancerClass: string): void {
  world.store.put(service("web", { spec: { loadBalancerClass } }));
}

describe("service-lb and a class while a provider has not responded yet", () => {
  test("says and writes nothing of a Service that may be another controller's", async () => {
    put("other.example.com/lb");
    await world.start([silent(), new LoadBalancerCloud("b", { classes: [CLASS] }).provider()]);
    await world.pass(60_000);
    expect([world.store.writes, world.reported]).toEqual([[], []]);
  });

  test("says of a Service whose class is served here what it waits for", async () => {
    world.rules = { ...NO_RULES, isSettled: () => false };
    put(CLASS);
    await world.start([silent(), new LoadBalancerCloud("b", { classes: [CLASS] }).provider()]);
    expect(world.store.get("web")?.status.conditions[0]?.message).toContain("not yet");
  });
});

test("service-lb leaves the finalizer of another controller on a Service whose load balancer it deleted before", async () => {
  const cloud = new LoadBalancerCloud("a");
  const finalizers = ["service.kubernetes.io/load-balancer-cleanup"];
  const become = async (spec: NonNullable<ServiceParts["spec"]>, metadata: ServiceParts["metadata"]): Promise<void> => {
    world.store.put(service("web", { spec, ...(metadata === undefined ? {} : { metadata }) }));
    await world.pass(1000);
  };
  world.store.put(service("web"));
  await world.start([cloud.provider()]);
  await become({ type: "ClusterIP" }, { finalizers });
  expect([cloud.kept.size, world.store.get("web")?.metadata.finalizers]).toEqual([0, []]);
  await become({ loadBalancerClass: "other.example.com/lb" }, { finalizers });
  const before = cloud.changes.length;
  await become({ type: "ClusterIP" }, { finalizers });
  expect([cloud.changes.slice(before), world.store.get("web")?.metadata.finalizers]).toEqual([[], finalizers]);
});
