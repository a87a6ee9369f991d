import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service, type ServiceParts } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { capabilities, info } from "../../../test/support/provider/provider-builders.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { contractError } from "../../provider/model/errors.ts";
import { NO_RULES, type Provider } from "../../provider/model/provider.ts";

const CLASS = "b.example.com/nlb";
const TWIN = "b.example.com/twin";
const UID = "uid-default-web";
const OTHER = "uid-default-other";

let a: LoadBalancerCloud;
let b: LoadBalancerCloud;
let world: ServiceHarness;

beforeEach(() => {
  a = new LoadBalancerCloud("a");
  b = new LoadBalancerCloud("b", { classes: [CLASS] });
  world = new ServiceHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

const both = () => [a.provider(), b.provider()];
const kept = () => [a, b].map(({ kept: all }) => [...all.keys()]);

/** Unclassed Services are this provider's from the next start on. */
function byDefault(name: string): void {
  world.rules = { ...NO_RULES, defaultLoadBalancerProvider: name };
}

function put(name = "web", parts: ServiceParts = {}): void {
  const known = world.store.get(name);
  const made = service(name, parts);
  world.store.put({
    ...made,
    metadata: { ...made.metadata, finalizers: known?.metadata.finalizers ?? [], ...parts.metadata },
    status: known?.status ?? made.status,
  });
}

describe("service-lb and a Service that another provider serves from now on", () => {
  test("makes the new load balancer, publishes it, and then takes the old one down, after another type in between", async () => {
    put();
    await world.start(both());
    expect(kept()).toEqual([[UID], []]);
    // The deletion at the first provider is held up until the Service has its new class.
    a.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
    put("web", { spec: { type: "ClusterIP" } });
    await world.pass(1000);
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.pass(1000);
    expect(world.store.get("web")?.status.loadBalancer.ingress[0]?.hostname).toBe("b-1.example");
    expect([kept(), world.reported.at(-1)]).toEqual([
      [[UID], [UID]],
      "DeletePreviousLoadBalancerFailed: Error deleting the load balancer of previous provider a: 503 (retrying in 5 seconds to 5 minutes). To fix: check the cloud's status page, and the network between provider and cloud",
    ]);
    a.fail = () => undefined;
    await world.pass(60_000);
    expect(kept()).toEqual([[], [UID]]);
    expect(world.reported.at(-1)).toBe("DeletedPreviousLoadBalancer: Deleted load balancer a-1 of previous provider a");
    expect(world.store.get("web")?.status.conditions[0]?.reason).toBe("NoAvailableNodes");
    const before = [...a.calls, ...b.calls].length;
    await world.pass(60_000);
    expect([...a.calls, ...b.calls]).toHaveLength(before);
  });

  test("publishes the new address first, even if that fails once and the old one cannot be deleted", async () => {
    put();
    await world.start(both());
    a.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
    let refusals = 0;
    world.store.refuses = () => b.kept.size > 0 && refusals++ === 0;
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.pass(60_000);
    expect(refusals).toBeGreaterThan(1);
    expect(world.store.get("web")?.status.loadBalancer.ingress[0]?.hostname).toBe("b-1.example");
    a.fail = () => undefined;
    await world.pass(600_000);
    expect(kept()).toEqual([[], [UID]]);
  });

  test("finds the load balancer of the previous provider in its list after a restart", async () => {
    put();
    byDefault("a");
    await world.start(both());
    byDefault("b");
    await world.restart();
    expect(kept()).toEqual([[], [UID]]);
    expect(a.changes).toEqual([`ensure ${UID}`, `delete ${UID}`]);
    expect(b.changes).toEqual([`ensure ${UID}`]);
    expect(world.store.get("web")?.status.loadBalancer.ingress[0]?.hostname).toBe("b-1.example");
  });

  test("finds it by a sweep when the list could not be read at the start", async () => {
    put();
    byDefault("a");
    await world.start(both());
    byDefault("b");
    a.fail = (call) => (call === "list" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
    await world.restart();
    expect(kept()).toEqual([[UID], [UID]]);
    a.fail = () => undefined;
    await world.pass(700_000);
    expect(kept()).toEqual([[], [UID]]);
  });

  test("deletes the load balancer of each of several previous providers", async () => {
    const c = new LoadBalancerCloud("c", { classes: ["c.example.com/nlb"] });
    put();
    await world.start([...both(), c.provider()]);
    a.fail = (call) => (call === "delete" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
    b.fail = a.fail;
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.pass(1000);
    put("web", { spec: { loadBalancerClass: "c.example.com/nlb" } });
    await world.pass(1000);
    expect([...kept(), [...c.kept.keys()]]).toEqual([[UID], [UID], [UID]]);
    a.fail = () => undefined;
    b.fail = a.fail;
    world.ready();
    await world.pass(300_000);
    expect([...kept(), [...c.kept.keys()]]).toEqual([[], [], [UID]]);
  });

  test.each([
    { it: "of one driver's other scope has", driver: "acme.example.com", want: [] },
    { it: "does not touch what a successor driver has taken over:", driver: "next.example.com", want: [UID] },
  ])("deletes what a previous provider $it with an equal ID", async ({ driver, want }) => {
    const twin = new LoadBalancerCloud("a", { classes: [CLASS] });
    const there = twin.provider("b");
    const declared = there.info === undefined ? undefined : { ...there.info, name: driver, scopeId: "elsewhere" };
    put();
    await world.start([a.provider(), { ...there, info: declared }]);
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.pass(1000);
    expect([[...a.kept.keys()], [...twin.kept.values()].map(({ id }) => id)]).toEqual([want, ["a-1"]]);
  });

  test("deletes nothing when both sidecars serve one cloud", async () => {
    put();
    byDefault("a");
    await world.start([a.provider(), a.provider("b")]);
    byDefault("b");
    await world.restart();
    await world.pass(700_000);
    expect(a.changes).toEqual([`ensure ${UID}`]);
  });

  test("deletes nothing that a sidecar of the same cloud serves now, whichever provider was called in between", async () => {
    const twin = b.provider("twin");
    const lists = { list: undefined, classes: [TWIN] };
    const declared = {
      ...twin.info,
      ...info({ scopeId: "scope-of-b", capabilities: { loadBalancers: capabilities(lists) } }),
    };
    put("web", { spec: { loadBalancerClass: TWIN } });
    await world.start([...both(), { ...twin, info: { ...declared, providerIdPrefixes: ["twin://"] } }]);
    a.fail = (call) => (call === "ensure" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
    put();
    await world.pass(1000);
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.pass(60_000);
    expect(kept()).toEqual([[], [UID]]);
    expect(b.changes.filter((call) => call.startsWith("delete"))).toEqual([]);
  });

  test("deletes nothing of a Service that no provider serves", async () => {
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.start(both());
    await world.restart([a.provider()]);
    await world.pass(700_000);
    expect([kept(), a.changes, b.changes]).toEqual([[[], [UID]], [], [`ensure ${UID}`]]);
  });

  test("leaves a Service as it is, and says so, whose provider serves no load balancers any more", async () => {
    put();
    await world.start([a.provider()]);
    const poorer = a.provider();
    await world.restart([{ ...poorer, info: info({ capabilities: { loadBalancers: undefined } }) }]);
    await world.pass(700_000);
    expect(a.changes).toEqual([`ensure ${UID}`]);
    expect(world.reported.at(-1)).toMatch(/^NoLoadBalancerProvider: .* does not support load balancers /);
  });

  test.each([
    { it: "deletes a protected load balancer once the Service disables protection", says: "false", want: [] },
    { it: "keeps a protected load balancer while the Service has no annotation", says: undefined, want: [UID] },
  ])("$it", async ({ says, want }) => {
    a = new LoadBalancerCloud("a", { deletionProtection: true });
    put();
    await world.start(both());
    let isProtected = true;
    a.fail = (call) => {
      if (call === "ensure") isProtected = false;
      return call === "delete" && isProtected ? contractError("DELETION_PROTECTED", "guarded") : undefined;
    };
    const annotations = says === undefined ? {} : { "service.cloudwire.dev/deletion-protection": says };
    put("web", { spec: { loadBalancerClass: CLASS }, metadata: { annotations } });
    await world.pass(1000);
    expect(kept()).toEqual([want, [UID]]);
  });

  test("leaves what is protected", async () => {
    const metadata = { annotations: { "service.cloudwire.dev/deletion-protection": "true" } };
    put("web", { metadata });
    byDefault("a");
    await world.start(both());
    byDefault("b");
    await world.restart();
    await world.pass(700_000);
    expect(kept()).toEqual([[UID], [UID]]);
    put();
    await world.pass(1000);
    expect(kept()).toEqual([[], [UID]]);
  });
});

describe("service-lb and a Service that is to go", () => {
  test("takes down what a provider has whose class the Service has lost with its type, after a restart", async () => {
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.start(both());
    expect(kept()).toEqual([[], [UID]]);
    await world.stop();
    put("web", { spec: { type: "ClusterIP" } });
    await world.start(both());
    expect(kept()).toEqual([[], []]);
    expect(world.store.get("web")?.metadata.finalizers).toEqual([]);
  });

  test("asks a provider that lists nothing, too", async () => {
    b = new LoadBalancerCloud("b", { classes: [CLASS], list: undefined });
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.start(both());
    await world.stop();
    put("web", { spec: { type: "ClusterIP" } });
    await world.start(both());
    expect([kept(), b.changes.at(-1)]).toEqual([[[], []], `delete ${UID}`]);
  });

  test("waits for a provider that has not responded yet", async () => {
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.start(both());
    await world.stop();
    put("web", { spec: { type: "ClusterIP" } });
    await world.start([
      a.provider(),
      { ...b.provider(), info: undefined, unavailable: contractError("PROVIDER_STARTING", "not yet") },
    ]);
    expect([kept(), world.store.get("web")?.metadata.finalizers.length]).toEqual([[[], [UID]], 1]);
    await world.restart(both());
    expect([kept(), world.store.get("web")?.metadata.finalizers.length]).toEqual([[[], []], 0]);
  });
});

describe("service-lb and a load balancer that fails as it is made", () => {
  test.each([
    { it: "a Service that gives up its type and class", spec: { type: "ClusterIP" }, want: [[], [OTHER]] },
    { it: "a Service of another class by now", spec: { type: "LoadBalancer" }, want: [[UID], [OTHER]] },
  ])("takes it down for $it", async ({ spec, want }) => {
    put("other", { spec: { loadBalancerClass: CLASS } });
    await world.start(both());
    // The list that is read at the start does not show it.
    await world.restart([a.provider(), failing(b.provider())]);
    put("web", { spec: { loadBalancerClass: CLASS } });
    await world.pass(1000);
    expect(kept()).toEqual([[], [OTHER, UID]]);
    put("web", { spec });
    await world.pass(60_000);
    expect(kept()).toEqual(want);
  });
});

/** What it makes is there and of no use. */
function failing(provider: Provider): Provider {
  const { client } = provider;
  return {
    ...provider,
    client: {
      ...client,
      ensureLoadBalancer: async (input, options) => {
        const { loadBalancer, ...answer } = await client.ensureLoadBalancer(input, options);
        return { ...answer, loadBalancer: loadBalancer && { ...loadBalancer, phase: "failed" } };
      },
    },
  };
}

describe("service-lb and orphaned load balancers", () => {
  test("counts and names them when two sweeps have seen them, and leaves them alone", async () => {
    put();
    await world.start([a.provider()]);
    const orphan = {
      id: "a-9",
      service: { namespace: "default", name: "gone", uid: "uid-gone" },
      version: 1,
      isTampered: false,
    };
    a.kept.set("uid-gone", { ...orphan, specFingerprint: "s", nodesFingerprint: "n", nodes: [] });
    await world.pass(700_000);
    const metric = 'cloudwire_load_balancers_orphaned{provider="a"}';
    expect(await world.metrics.text()).toContain(`${metric} 0`);
    await world.pass(600_000);
    expect(await world.metrics.text()).toContain(`${metric} 1`);
    expect(a.changes).toEqual([`ensure ${UID}`]);
  });
});
