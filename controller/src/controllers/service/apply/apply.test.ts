import { expect, test } from "vitest";
import { service } from "../../../../test/support/builders.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../../test/support/fake-log.ts";
import { FINALIZER, held, known, desired } from "../../../../test/support/service/service-plan-builders.ts";
import { ServiceStore } from "../../../../test/support/service/service-store.ts";
import { OwnWrites } from "../../../kube/cache/store.ts";
import { DONE } from "../../../runtime/reconciler.ts";
import { Metrics } from "../../../telemetry/metrics.ts";
import { TerminalError } from "../../../util/errors.ts";
import { apply } from "./apply.ts";
import { type ApplyDependencies, PacedConditions } from "./status.ts";
import { serviceMetrics } from "../metrics.ts";
import type { Settle } from "../plan/types.ts";
import { Records } from "../record/records.ts";

const KEY = "default/web";
const context = {
  key: KEY,
  priority: "high",
  signal: new AbortController().signal,
  log: new FakeLog(),
  reconcileID: "r",
  failures: 0,
} as const;

const PREVIOUS = { kind: "previousFound", provider: "old", loadBalancerID: "lb-old" } as const;

/** What stands serves, and another provider has something of the Service. */
function dependencies(): ApplyDependencies {
  const clock = new FakeClock();
  const store = new ServiceStore();
  store.put(held);
  const records = new Records();
  records.commit(KEY, { kind: "serviceSeen", service: held }, PREVIOUS);
  return {
    context,
    kube: store,
    services: store.informer.lister,
    providers: { providers: [] },
    events: { record: () => undefined },
    metrics: serviceMetrics(new Metrics()),
    records,
    newId: () => "id",
    ownWrites: new OwnWrites(),
    pace: { periodMs: 0 },
    checks: { delayMs: () => 0 },
    conditions: new PacedConditions(clock),
    clock,
    random: () => 0.5,
  };
}

const settle: Settle = {
  kind: "settle",
  service: held,
  present: known,
  finished: undefined,
  nodeCount: desired().nodes.count,
  finalizerPatch: undefined,
  isFound: false,
  inspection: undefined,
};

test("apply() requeues the deletion of a previous load balancer once the desired state is reached", async () => {
  expect(await apply(settle, dependencies())).toEqual({ kind: "requeue_after", delayMs: 0 });
});

test("apply() does not requeue a settled Service that is gone", async () => {
  const deps = dependencies();
  const gone = { ...settle, service: service("gone") };
  expect(await apply(gone, deps)).toEqual(DONE);
});

// An immediate requeue would change nothing and repeat forever.
test("apply() reports a refusal while a previous provider has a load balancer", async () => {
  const refuse = {
    kind: "refuse",
    refusal: { message: "no", retryAfterMs: undefined, nextTry: "later" },
    meanwhile: settle,
  } as const;
  await expect(apply(refuse, dependencies())).rejects.toThrow(TerminalError);
});

test("apply() keeps a protected load balancer and does not requeue the deletion of a previous one", async () => {
  const annotations = { "service.cloudwire.dev/deletion-protection": "true" };
  const keep = {
    kind: "keep",
    service: service("web", { metadata: { finalizers: [FINALIZER], annotations } }),
    isGone: false,
    loadBalancerId: "lb-1",
    finalizerPatch: undefined,
    meanwhile: settle,
  } as const;
  expect(await apply(keep, dependencies())).toEqual(DONE);
});

test("apply() forgets the writes of a Service that is gone", async () => {
  const deps = dependencies();
  const forgotten: string[] = [];
  const conditions = { items: () => undefined, forget: (key: string) => forgotten.push(key) };
  deps.ownWrites.note(held, { ...held, metadata: { ...held.metadata, resourceVersion: "2" } });
  expect(deps.ownWrites.newest(held)).not.toBe(held);
  expect(await apply({ kind: "forget", key: KEY }, { ...deps, conditions })).toEqual(DONE);
  expect([deps.ownWrites.newest(held), forgotten]).toEqual([held, [KEY]]);
});

test("apply() marks a failed load balancer as unknown and keeps its provider", async () => {
  const deps = dependencies();
  deps.records.commit(KEY, { kind: "read", present: known });
  await expect(apply({ kind: "fail", message: "it failed" }, deps)).rejects.toThrow("it failed");
  expect(deps.records.get(KEY)?.state).toMatchObject({ kind: "unknown", current: { provider: known.provider } });
});
