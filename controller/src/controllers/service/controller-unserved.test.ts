import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { ServiceHarness } from "../../../test/support/service/service-harness.ts";
import type { Service } from "../../api/service.ts";
import type { Provider } from "../../provider/model/provider.ts";

const UID = "uid-default-web";
const CLASS = "a.example.com/lb";
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const WHY = "provider acme owns Services without class but does not support load balancers";
const EVENT = `NoLoadBalancerProvider: The load balancer is left unchanged because no provider serves it: ${WHY} (retrying when a provider serves it). To fix: run a provider that serves it`;

let cloud: LoadBalancerCloud;
let world: ServiceHarness;
/** The provider's present version serves load balancers. */
let isCapable: boolean;

beforeEach(() => {
  [cloud, world, isCapable] = [new LoadBalancerCloud("acme", { classes: [CLASS] }), new ServiceHarness(), true];
  world.node("n1");
});
afterEach(() => world[Symbol.asyncDispose]());

function changing(): Provider {
  const provider = cloud.provider();
  const { info } = provider;
  const poorer = info && { ...info, capabilities: { ...info.capabilities, loadBalancers: undefined } };
  return Object.defineProperty(provider, "info", { get: () => (isCapable ? info : poorer) });
}

/** The sidecar is another version from now on. */
async function upgrade(to: "poorer" | "capable"): Promise<void> {
  isCapable = to === "capable";
  world.ready();
  await world.pass(1000);
}

const web = (): Service => world.store.get("web") ?? service("web");
const put = (change: (now: Service) => Service): void => world.store.put(change(web()));
const deleted = (now: Service): Service => ({
  ...now,
  metadata: { ...now.metadata, deletionTimestampMs: world.clock.nowMs() },
});
const condition = () => web().status.conditions.map(({ status, reason, message }) => [status, reason, message])[0];
const touched = () => [web().metadata.finalizers, web().status.loadBalancer];

describe("service-lb and a provider that serves no load balancers any more", () => {
  test("says so on the Service, once, touches nothing else, and says when all is well again", async () => {
    put((now) => now);
    await world.start([changing()]);
    const before = touched();
    const [writes, calls, events] = [world.store.writes.length, cloud.calls.length, world.reported.length];
    await upgrade("poorer");
    await upgrade("poorer");
    await world.pass(1_300_000);
    const message = `No provider serves this load balancer: ${WHY}. It is not changed or deleted until a provider serves it. To fix: run a provider that serves it.`;
    expect(condition()).toEqual(["Unknown", "NoLoadBalancerProvider", message]);
    expect(world.reported.slice(events)).toEqual([EVENT]);
    expect([world.store.writes.length - writes, cloud.calls.length - calls]).toEqual([1, 0]);
    expect(touched()).toEqual(before);
    await upgrade("capable");
    expect(condition()).toEqual(["True", "Ready", "The load balancer matches the spec of the Service."]);
    expect([touched(), cloud.changes]).toEqual([before, [`ensure ${UID}`]]);
    expect(world.reported.slice(events)).toEqual([EVENT]);
  });

  test("carries out afterwards what was changed meanwhile", async () => {
    put((now) => now);
    await world.start([changing()]);
    await upgrade("poorer");
    put((now) => ({ ...now, metadata: { ...now.metadata, annotations: { size: "huge" } } }));
    await world.pass(1000);
    expect([cloud.changes, condition()?.[1]]).toEqual([[`ensure ${UID}`], "NoLoadBalancerProvider"]);
    await upgrade("capable");
    expect([cloud.changes, condition()?.[1]]).toEqual([[`ensure ${UID}`, `ensure ${UID}`], "Ready"]);
  });

  test.each([
    { it: "deletes", change: deleted, gone: true },
    {
      it: "takes down, for a Service of another type,",
      change: (now: Service): Service => ({ ...now, spec: { ...now.spec, type: "ClusterIP" } }),
      gone: false,
    },
  ])("$it only afterwards, a restart in between included", async ({ change, gone }) => {
    put((now) => now);
    await world.start([changing()]);
    await upgrade("poorer");
    const reported = world.reported.length;
    put(change);
    await world.pass(1000);
    expect([cloud.kept.size, condition()?.[1], web().metadata.finalizers]).toEqual([
      1,
      "NoLoadBalancerProvider",
      [FINALIZER],
    ]);
    await world.restart();
    await world.pass(1_300_000);
    expect([cloud.changes, condition()?.[1], world.reported.length]).toEqual([
      [`ensure ${UID}`],
      "NoLoadBalancerProvider",
      reported,
    ]);
    await upgrade("capable");
    expect([cloud.kept.size, world.store.get("web") === undefined]).toEqual([0, gone]);
  });

  test("reports it on a Service with a class, too, whose load balancer this process knows", async () => {
    put(() => service("web", { spec: { loadBalancerClass: CLASS } }));
    await world.start([changing()]);
    await upgrade("poorer");
    expect(condition()?.slice(0, 2)).toEqual(["Unknown", "NoLoadBalancerProvider"]);
    await upgrade("capable");
    expect(condition()?.slice(0, 2)).toEqual(["True", "Ready"]);
  });

  test("takes nothing down that it made, when the Service gives up type and class, before it can", async () => {
    put(() => service("web", { spec: { loadBalancerClass: CLASS } }));
    await world.start([changing()]);
    isCapable = false;
    put((now) => ({ ...now, spec: { ...now.spec, type: "ClusterIP", loadBalancerClass: undefined } }));
    await world.pass(1000);
    expect([cloud.changes, condition()?.[1]]).toEqual([[`ensure ${UID}`], "NoLoadBalancerProvider"]);
    expect(condition()?.[2]).toContain("provider acme, which created it, serves no load balancers");
    await upgrade("capable");
    expect([cloud.kept.size, web().metadata.finalizers]).toEqual([0, []]);
  });

  test("reports it after a restart together with the sidecar, too", async () => {
    put((now) => now);
    await world.start([changing()]);
    isCapable = false;
    await world.restart();
    expect([condition()?.[1], world.reported.at(-1)]).toEqual(["NoLoadBalancerProvider", EVENT]);
  });

  test("says nothing on what may be another controller's", async () => {
    isCapable = false;
    const condition = {
      type: "cloudwire.dev/LoadBalancerReady",
      status: "True",
      reason: "Ready",
      message: "",
    } as const;
    const conditions = [{ ...condition, observedGeneration: 0, lastTransitionTimeMs: 0 }];
    const metadata = { finalizers: [FINALIZER] };
    world.store.put(service("fresh"));
    world.store.put(service("upstream", { metadata }));
    const status = { loadBalancer: { ingress: [] }, conditions };
    world.store.put(service("other", { metadata, spec: { loadBalancerClass: "other.example.com/lb" }, status }));
    await world.start([changing()]);
    await world.pass(1_300_000);
    expect([world.store.writes, world.reported]).toEqual([[], []]);
  });
});
