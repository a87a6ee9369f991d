import { describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import type { LoadBalancer, Operation } from "../../provider/model/load-balancer.ts";
import { NO_RULES, type Provider } from "../../provider/model/provider.ts";
import { contractError } from "../../provider/model/errors.ts";

const LIMITS = ["QUOTA_EXCEEDED", "ADDRESS_IN_USE", "NAME_TAKEN"] as const;

/** Long enough that every Service waits for its longest back-off. */
const LONG_MS = 7_200_000;

const uidOf = (name: string): string => `uid-default-${name}`;

/** A cloud with room for `room` load balancers, and Services that ask for one each, the first ones served. */
async function crowded(reason: (typeof LIMITS)[number], names: readonly string[], room: number) {
  const cloud = new LoadBalancerCloud("acme", { requestedIp: true });
  const harness = new ServiceHarness();
  cloud.fail = (call, uid) =>
    call === "ensure" && !cloud.kept.has(uid) && cloud.kept.size >= room
      ? contractError(reason, "none left")
      : undefined;
  const [first = "", ...others] = names;
  harness.store.put(service(first));
  await harness.start([cloud.provider()]);
  for (const name of others) {
    harness.store.put(service(name));
    await harness.pass(1000);
  }
  await harness.pass(LONG_MS);
  cloud.calls.length = 0;
  return { cloud, harness };
}

/** The changes of some Services go on in the cloud while `isChanging`. */
function whileChanging(provider: Provider, isChanging: (uid: string) => boolean): Provider {
  const { client } = provider;
  const shown = (loadBalancer: LoadBalancer): LoadBalancer =>
    isChanging(loadBalancer.service.uid) ? { ...loadBalancer, phase: "updating", operation: OPERATION } : loadBalancer;
  return {
    ...provider,
    client: {
      ...client,
      ensureLoadBalancer: async (input, options) => {
        const change = await client.ensureLoadBalancer(input, options);
        return { ...change, loadBalancer: change.loadBalancer && shown(change.loadBalancer) };
      },
      getLoadBalancer: async (ref, options) => {
        const result = await client.getLoadBalancer(ref, options);
        return result.kind === "present" ? { ...result, loadBalancer: shown(result.loadBalancer) } : result;
      },
    },
  };
}

const OPERATION: Operation = { id: "op", stage: "", progressPercent: undefined, pollAfterMs: 5000, message: "" };

function remove(harness: ServiceHarness, name: string): void {
  const known = harness.store.get(name) ?? service(name);
  harness.store.put({ ...known, metadata: { ...known.metadata, deletionTimestampMs: harness.clock.nowMs() } });
}

describe("service-lb that waits for what another Service has", () => {
  test.each(LIMITS)(
    "gets it within seconds of a deletion, in the order of waiting, after %s (case S-4)",
    async (reason) => {
      const { cloud, harness } = await crowded(reason, ["a", "b", "c", "d"], 1);
      remove(harness, "a");
      await harness.pass(5000);
      expect(cloud.changes).toEqual([
        `delete ${uidOf("a")}`,
        `ensure ${uidOf("b")}`,
        `ensure ${uidOf("c")}`,
        `ensure ${uidOf("d")}`,
      ]);
      expect([...cloud.kept.keys()]).toEqual([uidOf("b")]);
      await harness.stop();
    },
  );

  test("gets it although the load balancer of a Service before it is not ready (case S-4)", async () => {
    const { cloud, harness } = await crowded("ADDRESS_IN_USE", ["a", "b", "c"], 1);
    const full = cloud.fail;
    cloud.fail = (call, uid) =>
      uid === uidOf("b") ? contractError("NOT_READY", "it is being deleted") : full(call, uid);
    remove(harness, "a");
    await harness.pass(5000);
    expect([...cloud.kept.keys()]).toEqual([uidOf("c")]);
    await harness.stop();
  });

  test("gets it when the other Service changes to another address (case S-4)", async () => {
    const { cloud, harness } = await crowded("ADDRESS_IN_USE", ["a", "b"], 1);
    cloud.fail = () => undefined;
    const known = harness.store.get("a") ?? service("a");
    harness.store.put({ ...known, spec: { ...known.spec, loadBalancerIP: "10.0.0.2" } });
    await harness.pass(5000);
    expect(cloud.changes).toEqual([`ensure ${uidOf("a")}`, `ensure ${uidOf("b")}`]);
    await harness.stop();
  });

  test("gets it when the change of the other Service ends in the cloud (case S-4)", async () => {
    const cloud = new LoadBalancerCloud("acme", { requestedIp: true });
    const harness = new ServiceHarness();
    let isChanging = false;
    cloud.fail = (call, uid) =>
      call === "ensure" && uid === uidOf("b") && (isChanging || cloud.kept.get(uidOf("a"))?.version === 1)
        ? contractError("ADDRESS_IN_USE", "none left")
        : undefined;
    harness.store.put(service("a"));
    await harness.start([whileChanging(cloud.provider(), (uid) => isChanging && uid === uidOf("a"))]);
    harness.store.put(service("b"));
    await harness.pass(LONG_MS);
    isChanging = true;
    const known = harness.store.get("a") ?? service("a");
    harness.store.put({ ...known, spec: { ...known.spec, loadBalancerIP: "10.0.0.2" } });
    await harness.pass(60_000);
    expect([...cloud.kept.keys()]).toEqual([uidOf("a")]);
    isChanging = false;
    await harness.pass(15_000);
    expect([...cloud.kept.keys()]).toEqual([uidOf("a"), uidOf("b")]);
    await harness.stop();
  });

  test("gets it when the load balancer at a previous provider is deleted (case S-4)", async () => {
    const acme = new LoadBalancerCloud();
    const other = new LoadBalancerCloud("other", { classes: ["other.example/lb"] });
    const harness = new ServiceHarness();
    harness.rules = { ...NO_RULES, defaultLoadBalancerProvider: "acme" };
    const full = contractError("QUOTA_EXCEEDED", "none left");
    acme.fail = (call, uid) => (call === "ensure" && uid === uidOf("b") && acme.kept.size > 0 ? full : undefined);
    harness.store.put(service("a"));
    await harness.start([acme.provider(), other.provider()]);
    harness.store.put(service("b"));
    await harness.pass(LONG_MS);
    const known = harness.store.get("a") ?? service("a");
    harness.store.put({ ...known, spec: { ...known.spec, loadBalancerClass: "other.example/lb" } });
    await harness.pass(5000);
    expect([...other.kept.keys(), ...acme.kept.keys()]).toEqual([uidOf("a"), uidOf("b")]);
    await harness.stop();
  });

  test("is not retried for a deletion at another provider", async () => {
    const acme = new LoadBalancerCloud();
    const other = new LoadBalancerCloud("other", { classes: ["other.example/lb"] });
    const harness = new ServiceHarness();
    harness.rules = { ...NO_RULES, defaultLoadBalancerProvider: "acme" };
    acme.fail = (call) => (call === "ensure" ? contractError("QUOTA_EXCEEDED", "none left") : undefined);
    harness.store.put(service("a"));
    harness.store.put(service("b", { spec: { loadBalancerClass: "other.example/lb" } }));
    await harness.start([acme.provider(), other.provider()]);
    await harness.pass(LONG_MS);
    acme.calls.length = 0;
    remove(harness, "b");
    await harness.pass(5000);
    expect([other.kept.size, acme.changes]).toEqual([0, []]);
    await harness.stop();
  });
});

describe("service-lb that waits for the cloud", () => {
  test("creates and deletes as soon as one retry shows that it responds again (case S-4)", async () => {
    const { cloud, harness } = await crowded("QUOTA_EXCEEDED", ["a", "b", "c", "d"], 4);
    cloud.fail = () => contractError("CLOUD_UNAVAILABLE", "503");
    for (const name of ["a", "b", "c"]) remove(harness, name);
    harness.store.put(service("e"));
    await harness.pass(LONG_MS);
    cloud.fail = () => undefined;
    cloud.calls.length = 0;
    while (cloud.changes.length === 0) await harness.pass(1000);
    await harness.pass(2000);
    expect(cloud.changes.toSorted()).toEqual([
      `delete ${uidOf("a")}`,
      `delete ${uidOf("b")}`,
      `delete ${uidOf("c")}`,
      `ensure ${uidOf("e")}`,
    ]);
    await harness.stop();
  });
});
