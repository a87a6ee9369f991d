import { expect, onTestFinished, test } from "vitest";
import { CREATED_MS, node, service, taint } from "../../test/support/builders.ts";
import { snapshot } from "../../test/support/explain/explain-builders.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeInformer } from "../../test/support/kube/fake-informer.ts";
import { keyedController } from "../../test/support/keyed-controller.ts";
import { idleProvider, info } from "../../test/support/provider/provider-builders.ts";
import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  SERVICE_LB_CONTROLLER,
} from "../api/controller-names.ts";
import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import { UNINITIALIZED } from "../api/well-known.ts";
import { parseObject } from "./objects.ts";
import type { BudgetSnapshot } from "../provider/model/call-rate.ts";
import { contractError } from "../provider/model/errors.ts";
import type { ProviderSnapshot } from "../provider/sidecar.ts";
import { providerSet } from "../provider/ownership/provider-set.ts";
import { NO_RULES } from "../provider/model/provider.ts";
import { DONE, requeueAfter, type Result } from "../runtime/reconciler.ts";
import { Explainer, type ExplainerDependencies } from "./explainer.ts";
import { HistoryStores } from "./history/stores.ts";
import { ObjectEvaluator } from "./evaluate/object-evaluator.ts";

type Reconcile = (key: string) => Promise<Result>;

const NEVER: Reconcile = () => Promise.reject(new Error("it was not to begin"));

const LEADER = { identity: "one", isLeader: true, version: "1.2.3" };

/** What controllers of those names make of those keys; without a function they are not even begun. */
interface World {
  readonly controllers?: Readonly<Record<string, Reconcile | undefined>>;
  readonly keys?: readonly string[];
  readonly replica?: ExplainerDependencies["replica"];
  readonly snapshots?: readonly ProviderSnapshot[];
}

async function world({ controllers = {}, keys = [], replica = () => LEADER, snapshots = [snapshot()] }: World = {}) {
  const clock = new FakeClock(CREATED_MS + 60_000);
  const history = new HistoryStores(clock);
  const nodes = new FakeInformer<Node>();
  const services = new FakeInformer<Service>();
  history.follow({ nodes, services });
  const all = Object.entries(controllers).map(([name, reconcile]) => {
    const ended = history.reconciled(name);
    const controller = keyedController({ name, keys, reconcile: reconcile ?? NEVER, clock, ended });
    const stop = new AbortController();
    if (reconcile !== undefined) void controller.run({ stop: stop.signal, abort: stop.signal });
    onTestFinished(() => stop.abort());
    return controller;
  });
  await clock.advance(1);
  const east = idleProvider("east", info());
  const providers = providerSet([east], NO_RULES);
  const common = { nodes, services, controllers: () => all, replica, clock };
  const evaluator = new ObjectEvaluator({ ...common, providers: () => providers, providerSnapshots: () => snapshots });
  const explainer = new Explainer({ ...common, evaluator, history });
  const explain = (text: string) => {
    const asked = parseObject(text);
    if ("problems" in asked) throw new Error(asked.problems.join());
    return explainer.explain(asked);
  };
  return { clock, stores: history, nodes, services, explain };
}

const waiting = node("w1", { spec: { taints: [taint(UNINITIALIZED)] } });
const web = service("web", { spec: { loadBalancerClass: "absent.example/none" } });

test("explains a Node by its last reconcile, with its calls, its past and when it is tried next", async () => {
  const error = contractError("RATE_LIMITED", "the cloud throttles", { retryAfterMs: 30_000 });
  const { explain, stores, nodes } = await world({
    controllers: { [CLOUD_NODE_CONTROLLER]: () => Promise.reject(error), [CLOUD_NODE_LIFECYCLE_CONTROLLER]: undefined },
    keys: ["w1"],
  });
  nodes.set(waiting);
  const call = { startMs: CREATED_MS + 1, provider: "east", method: "BatchGetInstances", durationMs: 3.2 };
  const failed = {
    code: "RESOURCE_EXHAUSTED",
    reason: "RATE_LIMITED",
    message: "slow down",
    cloudRequestIds: ["req-1"],
  };
  stores.journal.note({ ...call, ...failed }, { kind: "node", names: ["w0", "w1"] }, undefined);
  expect(explain("node/w1")).toMatchObject({
    object: "node/w1",
    replica: LEADER,
    exists: true,
    state: "waiting",
    summary: "The cloud throttles.",
    causes: [{ reason: "Throttled" }],
    nextRetry: { inMs: 29_999, message: "cloud-node-controller: back-off after 1 failure" },
    controllers: [
      {
        controller: CLOUD_NODE_CONTROLLER,
        key: "w1",
        queue: { kind: "delayed", inMs: 29_999 },
        last: { outcome: "error", reconcileID: "id-1", error: { message: "the cloud throttles" } },
      },
      {
        controller: CLOUD_NODE_LIFECYCLE_CONTROLLER,
        queue: { kind: "notRunning", message: "another replica is the leader" },
      },
    ],
    provider: { name: "east", ready: true },
    calls: [{ method: "BatchGetInstances", code: "RESOURCE_EXHAUSTED", cloudRequestIds: ["req-1"], objectCount: 2 }],
    timeline: [
      { kind: "object", reason: "Created" },
      { kind: "reconcile", reason: "Failed", source: CLOUD_NODE_CONTROLLER, message: "the cloud throttles" },
      { kind: "call", reason: "RATE_LIMITED", source: "east" },
    ],
  });
});

test("shows the circuit breaker of a provider as its Nodes report it", async () => {
  const held = requeueAfter(1000, { reason: "tooManyNodeDeletions", message: "2 of 3 Nodes would go" });
  const { explain, nodes } = await world({
    controllers: { [CLOUD_NODE_LIFECYCLE_CONTROLLER]: () => Promise.resolve(held) },
    keys: ["w1"],
  });
  nodes.set(node("w1", { spec: { providerID: "other://1" }, status: { conditions: [] } }));
  expect(explain("provider/east")).toMatchObject({ state: "ok", causes: [] });
  nodes.set(node("w1", { spec: { providerID: "acme://1" }, status: { conditions: [] } }));
  expect(explain("provider/east")).toMatchObject({
    state: "blocked",
    causes: [{ reason: "TooManyNodeDeletions", message: "2 of 3 Nodes would go." }],
  });
  // It is Ready again, and what was said of it is over.
  nodes.set(node("w1", { spec: { providerID: "acme://1" } }));
  expect(explain("provider/east")).toMatchObject({ state: "ok", causes: [] });
});

test("says that the controller is not turned on, before anything else", async () => {
  const { explain, nodes } = await world({ controllers: { [SERVICE_LB_CONTROLLER]: undefined } });
  nodes.set(waiting);
  expect(explain("node/w1")).toMatchObject({
    state: "unmanaged",
    causes: [{ reason: "ControllerDisabled", message: expect.stringContaining(CLOUD_NODE_CONTROLLER) }],
    controllers: [
      { queue: { kind: "notRunning", message: "disabled (--controllers)" } },
      { controller: CLOUD_NODE_LIFECYCLE_CONTROLLER },
    ],
  });
});

test("a standby adds reason NotLeader to objects with problems only", async () => {
  const standby = { identity: "two", isLeader: false, leaderIdentity: "one", version: "1.2.3" };
  const controllers = { [CLOUD_NODE_CONTROLLER]: undefined, [CLOUD_NODE_LIFECYCLE_CONTROLLER]: undefined };
  const { explain, nodes } = await world({ controllers, replica: () => standby });
  nodes.set(waiting);
  nodes.set(node("w2", { spec: { providerID: "acme://2" } }));
  expect(explain("node/w1")).toMatchObject({
    replica: standby,
    state: "waiting",
    causes: [{ reason: "NotLeader", message: expect.stringContaining("the leader is one") }],
  });
  expect(explain("node/w2")).toMatchObject({ replica: standby, state: "ok", causes: [] });
  expect(explain("provider/east")).toMatchObject({ state: "ok", causes: [] });
});

test("says of a Node that is not Ready, too, that only the leader knows whether it is to go", async () => {
  const standby = { identity: "two", isLeader: false, leaderIdentity: "one", version: "1.2.3" };
  const { explain, nodes } = await world({ replica: () => standby });
  nodes.set(node("w1", { spec: { providerID: "acme://1" }, status: { conditions: [] } }));
  expect(explain("node/w1")).toMatchObject({ state: "waiting", causes: [{ reason: "NotLeader" }] });
});

test("reports no provider problems of a Service of another type", async () => {
  const throttled: BudgetSnapshot = {
    classes: ["load_balancers"],
    cloudCallsPerSecond: 1,
    burst: 1,
    tokens: 0,
    heldMs: 5000,
    waiting: { high: 0, low: 0 },
  };
  const { explain, services } = await world({ snapshots: [snapshot({ budgets: [throttled] })] });
  services.set(service("plain", { spec: { type: "ClusterIP" } }));
  const explanation = explain("service/default/plain");
  expect(explanation).toMatchObject({
    state: "unmanaged",
    summary: "The Service is not of type LoadBalancer.",
    causes: [],
  });
  expect(explanation.provider).toBeUndefined();
  services.set(service("plain"));
  expect(explain("service/default/plain")).toMatchObject({ state: "waiting", causes: [{ reason: "Throttled" }] });
});

test("does not say that there is no such provider before any is connected to", async () => {
  const { explain } = await world({ snapshots: [] });
  expect(explain("provider/east")).toMatchObject({ exists: false, causes: [{ reason: "CacheNotSynced" }] });
});

test("names the classes that are served where one is not, and tries nothing", async () => {
  const controllers = { [SERVICE_LB_CONTROLLER]: () => Promise.resolve(requeueAfter(1000)) };
  const { explain, services } = await world({ controllers, keys: ["default/web"] });
  services.set(web);
  const explanation = explain("service/default/web");
  expect(explanation).toMatchObject({ state: "unmanaged", causes: [{ reason: "LoadBalancerClassNotServed" }] });
  expect(explanation.nextRetry).toBeUndefined();
});

test("remembers what is gone", async () => {
  const { explain, services } = await world();
  services.set(web);
  services.delete("default/web");
  expect(explain("service/default/web")).toMatchObject({
    exists: false,
    state: "unmanaged",
    summary: "service/default/web no longer exists in the cluster; its last entry: Deleted from the cluster.",
    causes: [{ reason: "Deleted" }],
    timeline: [{ reason: "Deleted" }, { reason: "Created" }],
  });
});

test("remembers what is gone by what was asked of its provider, and by what a controller makes of it", async () => {
  const controllers = { [CLOUD_NODE_LIFECYCLE_CONTROLLER]: () => Promise.resolve(DONE) };
  const { explain, stores } = await world({ controllers, keys: ["looked-at"] });
  const call = { startMs: CREATED_MS, provider: "east", method: "DeleteRoutes", durationMs: 3, code: "OK" };
  const parts = { reason: "", message: "", cloudRequestIds: [] };
  stores.journal.note({ ...call, ...parts }, { kind: "route", names: ["routed"] }, undefined);
  for (const object of ["node/looked-at", "route/routed"]) {
    expect(explain(object)).toMatchObject({
      exists: false,
      summary: "The object no longer exists in the cluster.",
      causes: [{ reason: "Deleted" }],
    });
  }
});

test("knows nothing of what never was but what it may be called", async () => {
  const { explain, nodes, services } = await world();
  nodes.set(waiting);
  services.set(web);
  for (const [object, meant] of [
    ["node/absent", "."],
    ["node/v1", "; did you mean node/w1?"],
    ["route/v1", "; did you mean route/w1?"],
    ["service/shop/web", "; did you mean service/default/web?"],
    ["provider/absent", "; did you mean provider/east?"],
  ]) {
    expect(explain(String(object))).toMatchObject({
      exists: false,
      causes: [{ reason: "NotFound", message: `${object} does not exist${meant}` }],
      facts: [],
      timeline: [],
    });
  }
});
