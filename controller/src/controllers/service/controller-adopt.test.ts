import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { LoadBalancerCapabilities } from "../../provider/model/info.ts";

const ASKS = { annotations: { "service.cloudwire.dev/adopt-load-balancer": "lb-old" } };
const UID = "uid-default-web";
const LEFT = "uid-of-another-cluster";

let cloud: LoadBalancerCloud;
let world: ServiceHarness;

beforeEach(() => {
  cloud = cloudOf({});
  world = new ServiceHarness();
  world.options.allowLoadBalancerAdoption = true;
});
afterEach(() => world[Symbol.asyncDispose]());

/** A cloud that has one load balancer, of a Service that no longer exists. */
function cloudOf(declared: Partial<LoadBalancerCapabilities>): LoadBalancerCloud {
  const made = new LoadBalancerCloud("acme", { adopt: true, ...declared });
  leave(made, "lb-old", LEFT);
  return made;
}

/** Puts a load balancer there as if made before. */
function leave(made: LoadBalancerCloud, id: string, uid: string): void {
  made.kept.set(uid, {
    id,
    service: { namespace: "default", name: "web", uid },
    specFingerprint: "s-old",
    nodesFingerprint: "n-old",
    nodes: [],
    version: 1,
    isTampered: false,
  });
}

function put(name: string, annotations: Readonly<Record<string, string>> = {}): void {
  const finalizers = world.store.get(name)?.metadata.finalizers ?? [];
  const made = service(name, { metadata: { annotations } });
  world.store.put({ ...made, metadata: { ...made.metadata, finalizers } });
}

/** Asks for the one of {@link cloudOf} from now on. */
const ask = (name: string, id = "lb-old"): void => put(name, { "service.cloudwire.dev/adopt-load-balancer": id });

const owners = (): Readonly<Record<string, string>> =>
  Object.fromEntries([...cloud.kept].map(([uid, { id }]) => [uid, id]));

const said = (name = "web"): string => world.store.get(name)?.status.conditions[0]?.message ?? "";

describe("service-lb and a load balancer that exists", () => {
  test("takes over the one that the Service names, once, and keeps it across a restart", async () => {
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [UID]: "lb-old" });
    expect(world.reported).toContain(
      "AdoptingLoadBalancer: Adopting load balancer lb-old as requested by annotation service.cloudwire.dev/adopt-load-balancer",
    );
    expect(world.store.get("web")?.status.loadBalancer.ingress[0]?.hostname).toBe("lb-old.example");
    world.options.allowLoadBalancerAdoption = false;
    await world.restart();
    put("web");
    await world.pass(60_000);
    expect(owners()).toEqual({ [UID]: "lb-old" });
    expect(world.reported.filter((reported) => reported.startsWith("AdoptingLoadBalancer"))).toHaveLength(1);
  });

  test("makes none while that is not allowed, and takes it over once it is", async () => {
    world.options.allowLoadBalancerAdoption = false;
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
    expect(said()).toContain("enable it with --allow-load-balancer-adoption");
    world.options.allowLoadBalancerAdoption = true;
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
    expect(said()).toContain("the provider does not support adoption");
  });

  test("never takes that of a Service that lives", async () => {
    put("other");
    await world.start([cloud.provider()]);
    const { "uid-default-other": id = "" } = owners();
    put("web", { "service.cloudwire.dev/adopt-load-balancer": id });
    await world.pass(1000);
    await world.restart();
    expect(said()).toContain(`load balancer ${id} is used or requested by Service default/other`);
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
    expect(world.reported.join("\n")).toContain("the Service has load balancer acme-1; to adopt another");
    await world.restart();
    expect(owners()).toEqual({ [LEFT]: "lb-old", [UID]: "acme-1" });
  });

  test("takes nothing over from a list that is not complete", async () => {
    cloud.complete = false;
    put("web", ASKS.annotations);
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
    expect(said()).toContain("the provider's list is incomplete");
    cloud.complete = true;
    await world.pass(600_000);
    expect(owners()).toEqual({ [UID]: "lb-old" });
  });

  test("never takes what is being deleted for a Service that is gone, by which it would be lost", async () => {
    put("other");
    await world.start([cloud.provider()]);
    const { "uid-default-other": id = "" } = owners();
    cloud.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "not now") : undefined);
    world.store.put(service("other", { metadata: { finalizers: [], deletionTimestampMs: 1 } }));
    await world.pass(1000);
    ask("web", id);
    await world.pass(1000);
    expect(said()).toContain(`load balancer ${id} is used or requested by Service default/other`);
    expect(owners()).toMatchObject({ "uid-default-other": id });
    cloud.fail = () => undefined;
    await world.pass(600_000);
    expect(owners()).toEqual({ [LEFT]: "lb-old" });
  });

  test("never takes what another Service has just taken over, whatever lists show", async () => {
    ask("web");
    await world.start([cloud.provider()]);
    put("web");
    ask("other");
    await world.pass(1000);
    expect(said("other")).toContain("load balancer lb-old is used or requested by Service default/web");
    expect(owners()).toEqual({ [UID]: "lb-old" });
  });

  test("asks the cloud once for many Services that ask at the same time", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    for (const name of names) {
      leave(cloud, `lb-${name}`, `old-${name}`);
      ask(name, `lb-${name}`);
    }
    await world.start([cloud.provider()]);
    await world.pass(1000);
    expect(owners()).toMatchObject(Object.fromEntries(names.map((name) => [`uid-default-${name}`, `lb-${name}`])));
    expect(cloud.calls.filter((call) => call === "list").length).toBeLessThanOrEqual(2);
  });

  test("leaves a Service with the load balancer that only the cloud knows of, for its finalizer is gone", async () => {
    leave(cloud, "lb-own", UID);
    ask("web");
    await world.start([cloud.provider()]);
    expect(owners()).toEqual({ [LEFT]: "lb-old", [UID]: "lb-own" });
    expect(world.reported.join("\n")).toContain("the Service has load balancer lb-own; to adopt another");
    expect(world.reported.join("\n")).not.toContain("AdoptingLoadBalancer");
  });

  // Providers answer a change that they know by its id as they did before.
  test("uses another request ID to adopt another load balancer", async () => {
    const requests: (string | undefined)[] = [];
    const provider = cloud.provider();
    const { client } = provider;
    const ensureLoadBalancer: typeof client.ensureLoadBalancer = (input, options) => {
      requests.push(options.requestId);
      return client.ensureLoadBalancer(input, options);
    };
    ask("web", "lb-misspelled");
    await world.start([{ ...provider, client: { ...client, ensureLoadBalancer } }]);
    ask("web");
    await world.pass(1000);
    expect(owners()).toEqual({ [UID]: "lb-old" });
    expect([requests.length, new Set(requests).size]).toEqual([2, 2]);
  });
});
