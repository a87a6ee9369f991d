import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service, type ServiceParts } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { asProviderError, contractError } from "../../provider/model/errors.ts";
import type { Provider } from "../../provider/model/provider.ts";
import { sleep } from "../../util/abort.ts";

const UID = "uid-default-web";
const PROTECTED = { annotations: { "service.cloudwire.dev/deletion-protection": "true" } };
const CLUSTER_IP = { type: "ClusterIP" };

let cloud: LoadBalancerCloud;
let world: ServiceHarness;

beforeEach(() => {
  cloud = new LoadBalancerCloud("acme", { maxConcurrentChanges: 1, lockScope: "provider" });
  world = new ServiceHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

function put(name: string, parts: ServiceParts = {}): void {
  const known = world.store.get(name);
  const made = service(name, parts);
  const finalizers = known?.metadata.finalizers ?? [];
  world.store.put({ ...made, metadata: { ...made.metadata, finalizers, ...parts.metadata } });
}

/** By force: without its finalizer, whatever it says. */
function remove(name: string): void {
  world.store.informer.delete(`default/${name}`);
}

describe("service-lb and a protection that came late", () => {
  test.each([
    { it: "keeps what was protected last although the spec was never accepted", says: PROTECTED, want: [UID] },
    { it: "deletes what was not protected last", says: {}, want: [] },
  ])("$it when the Service is removed by force", async ({ says, want }) => {
    put("web");
    await world.start([cloud.provider()]);
    cloud.fail = (call) => (call === "ensure" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
    put("web", { metadata: says });
    await world.pass(1000);
    remove("web");
    await world.pass(60_000);
    expect([...cloud.kept.keys()]).toEqual(want);
    expect(world.reported.filter((reported) => reported.startsWith("LoadBalancerRetained"))).toHaveLength(want.length);
  });

  test.each([
    { it: "is protected", parts: { spec: CLUSTER_IP, metadata: PROTECTED } },
    { it: "wants its load balancer again", parts: {} },
    { it: "is protected and removed by force", parts: { spec: CLUSTER_IP, metadata: PROTECTED }, isRemoved: true },
  ])("does not delete while another change goes first and the Service $it meanwhile", async ({ parts, isRemoved }) => {
    let go = (): void => undefined;
    const provider = held(cloud.provider(), "uid-default-other", new Promise((resolve) => (go = () => resolve())));
    put("web");
    await world.start([provider]);
    put("other");
    await world.pass(1000);
    put("web", { spec: CLUSTER_IP });
    await world.pass(1000);
    put("web", parts);
    if (isRemoved === true) remove("web");
    go();
    await world.pass(60_000);
    expect(cloud.changes.filter((change) => change.startsWith("delete"))).toEqual([]);
    expect(cloud.kept.has(UID)).toBe(true);
  });

  test.each([
    { it: "gives up its type", parts: { spec: CLUSTER_IP } },
    { it: "is another provider's", parts: { spec: { loadBalancerClass: "b.example.com/nlb" } } },
  ])("deletes nothing of a Service that $it and wants it back while the call waits to be sent", async ({ parts }) => {
    const next = new LoadBalancerCloud("next", { classes: ["b.example.com/nlb"] });
    put("web");
    await world.start([inLine(cloud.provider(), 10_000), next.provider()]);
    put("web", parts);
    await world.pass(5000);
    put("web");
    await world.pass(60_000);
    expect(cloud.changes.filter((change) => change.startsWith("delete"))).toEqual([]);
    expect([cloud.kept.has(UID), next.kept.has(UID)]).toEqual([true, false]);
  });

  test("does not delete the load balancer of a previous provider while another change goes first and the Service is protected", async () => {
    let go = (): void => undefined;
    const first = held(cloud.provider(), "uid-default-other", new Promise((resolve) => (go = () => resolve())));
    const loadBalancerClass = "b.example.com/nlb";
    const next = new LoadBalancerCloud("next", { classes: [loadBalancerClass] });
    put("web");
    await world.start([first, next.provider()]);
    put("other");
    await world.pass(1000);
    put("web", { spec: { loadBalancerClass } });
    await world.pass(1000);
    put("web", { spec: { loadBalancerClass }, metadata: PROTECTED });
    go();
    await world.pass(60_000);
    expect([cloud.kept.has(UID), next.kept.has(UID)]).toEqual([true, true]);
  });
});

/** Deletions wait so long for their turn. */
function inLine(provider: Provider, waitMs: number): Provider {
  const { client } = provider;
  return {
    ...provider,
    client: {
      ...client,
      deleteLoadBalancer: async (ref, options) => {
        await sleep(waitMs, options.signal, world.clock);
        try {
          options.refuse?.();
        } catch (error) {
          throw asProviderError(error);
        }
        return client.deleteLoadBalancer(ref, options);
      },
    },
  };
}

/** A change of the load balancer of `uid` takes until then. */
function held(provider: Provider, uid: string, until: Promise<void>): Provider {
  const { client } = provider;
  return {
    ...provider,
    client: {
      ...client,
      ensureLoadBalancer: async (input, options) => {
        if (input.service.uid === uid) await until;
        return client.ensureLoadBalancer(input, options);
      },
    },
  };
}

test("service-lb makes a load balancer again whose deletion was carried out without an answer", async () => {
  put("web");
  await world.start([cloud.provider()]);
  await world.pass(1000);
  cloud.fail = (call) => (call === "delete" ? "lost" : undefined);
  put("web", { spec: CLUSTER_IP });
  await world.pass(10);
  cloud.fail = () => undefined;
  put("web");
  await world.pass(60_000);
  expect([...cloud.kept.keys()]).toEqual([UID]);
});
