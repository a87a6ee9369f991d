import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/load-balancer-cloud.ts";
import { ServiceWorld } from "../../../test/support/service-world.ts";
import type { LoadBalancerCapabilities } from "../../provider/provider-info.ts";

const ASKS = { annotations: { "service.cloudwire.dev/adopt-load-balancer": "lb-old" } };
const UID = "uid-default-web";
const LEFT = "uid-of-another-cluster";

let cloud: LoadBalancerCloud;
let world: ServiceWorld;

beforeEach(() => {
  cloud = cloudOf({});
  world = new ServiceWorld();
  world.adoptsLoadBalancers = true;
});
afterEach(() => world[Symbol.asyncDispose]());

/** A cloud that has one load balancer, of a Service that is no more. */
function cloudOf(declared: Partial<LoadBalancerCapabilities>): LoadBalancerCloud {
  const made = new LoadBalancerCloud("acme", { adopt: true, ...declared });
  made.kept.set(LEFT, {
    id: "lb-old",
    service: { namespace: "default", name: "web", uid: LEFT },
    specFingerprint: "s-old",
    nodesFingerprint: "n-old",
    nodes: [],
    version: 1,
    isTampered: false,
    isSeen: false,
  });
  return made;
}

function put(name: string, annotations: Readonly<Record<string, string>> = {}): void {
  const finalizers = world.store.get(name)?.metadata.finalizers ?? [];
  const made = service(name, { metadata: { annotations } });
  world.store.put({ ...made, metadata: { ...made.metadata, finalizers } });
}

const owners = (): Readonly<Record<string, string>> =>
  Object.fromEntries([...cloud.kept].map(([uid, { id }]) => [uid, id]));

const said = (name = "web"): string => world.store.get(name)?.status.conditions[0]?.message ?? "";

describe("service-lb and a load balancer that exists", () => {
  test("takes over the one that the Service names, once, and keeps it across a restart", async () => {
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [UID]: "lb-old" });
    expect(world.told).toContain(
      "AdoptingLoadBalancer: Taking over load balancer lb-old, as service.cloudwire.dev/adopt-load-balancer asks",
    );
    expect(world.store.get("web")?.status.loadBalancer.ingress[0]?.hostname).toBe("lb-old.example");
    world.adoptsLoadBalancers = false;
    await world.restart();
    put("web");
    await world.pass(60_000);
    expect(owners()).toEqual({ [UID]: "lb-old" });
    expect(world.told.filter((told) => told.startsWith("AdoptingLoadBalancer"))).toHaveLength(1);
  });

  test("makes none while that is not allowed, and takes it over once it is", async () => {
    world.adoptsLoadBalancers = false;
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
    expect(said()).toContain("--adopt-load-balancers allows it");
    world.adoptsLoadBalancers = true;
    await world.pass(120_000);
    expect(owners()).toEqual({ [UID]: "lb-old" });
  });

  test.each([
    { it: "cannot take load balancers over", declared: { adopt: false } },
    { it: "cannot say whose they are", declared: { list: undefined } },
  ])("makes none where the provider $it", async ({ declared }) => {
    cloud = cloudOf(declared);
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    await world.pass(120_000);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
    expect(said()).toContain("the provider takes over no load balancers");
  });

  test("never takes that of a Service that lives", async () => {
    put("other");
    await world.start([cloud.provider()]);
    const { "uid-default-other": id = "" } = owners();
    put("web", { "service.cloudwire.dev/adopt-load-balancer": id });
    await world.pass(1000);
    await world.restart();
    expect(said()).toContain(`load balancer ${id} is also that of Service default/other`);
    expect(owners()).toMatchObject({ "uid-default-other": id });
  });

  test("gives one that two Services ask for to neither, and to the one that is left", async () => {
    put("web", ASKS.annotations);
    put("other", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
    put("other");
    await world.pass(120_000);
    expect(owners()).toMatchObject({ [UID]: "lb-old", "uid-default-other": "acme-1" });
  });

  test("leaves a Service with the load balancer that it has, and says so", async () => {
    put("web");
    await world.start([cloud.provider()]);
    put("web", ASKS.annotations);
    await world.pass(1000);
    expect(owners()).toEqual({ [LEFT]: "lb-old", [UID]: "acme-1" });
    expect(world.told.join("\n")).toContain("the Service has load balancer acme-1; to take over another");
    await world.restart();
    expect(owners()).toEqual({ [LEFT]: "lb-old", [UID]: "acme-1" });
  });

  test("takes nothing over from a list that is not complete", async () => {
    cloud.complete = false;
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
    expect(said()).toContain("the provider's list is not complete");
    cloud.complete = true;
    await world.pass(600_000);
    expect(owners()).toEqual({ [UID]: "lb-old" });
  });
});
