import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import { Harness, type HarnessOptions } from "./support/harness.ts";
import { initializedNode, loadBalancerService, masked } from "./support/objects.ts";
import { READY, saying } from "./support/service-lb.ts";

const ENSURING = "Normal EnsuringLoadBalancer Ensuring load balancer";
const ENSURED = "Normal EnsuredLoadBalancer Ensured load balancer";
const PATH = "namespaces/default/services/web";
const KEY = "default/web";

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await Harness.start({ objects: [initializedNode("a"), loadBalancerService("web")], ...options });
}

afterEach(async () => {
  const { overlaps } = harness.cloud;
  await harness[Symbol.asyncDispose]();
  if (overlaps.length > 0) throw new Error(`calls for one Service overlapped: ${overlaps.join("; ")}`);
});

function ingressIp(): string | undefined {
  const service = harness.cluster.read("v1", "Service", "default", "web");
  return /"ingress":\[\{"ip":"([^"]+)"/.exec(JSON.stringify(service) ?? "")?.[1];
}

const published = (): Promise<void> =>
  eventually("the address is published", () => ingressIp() === "192.0.2.1", 20_000);

const never = new Promise<never>(() => undefined);

describe("service-lb and slow clouds", () => {
  test("polls a load balancer that is being made, and publishes it when it is ready", async () => {
    await start();
    harness.cloud.slowPolls = 3;
    await harness.startProvider();
    const manager = harness.startManager().startServices();
    await eventually("it was asked for", () => harness.cloud.changes.length > 1);
    expect([ingressIp(), harness.events("web")]).toEqual([undefined, [ENSURING]]);
    await published();
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "get web", "get web", "get web"]);
    expect(harness.cloud.calls[1]?.request).toMatchObject({ operationId: "op-lb-1" });
    expect(harness.writes).toHaveLength(2);
    expect(harness.events("web")).toEqual([ENSURING, ENSURED]);
    expect(manager.services.queue.failures(KEY)).toBe(0);
  });

  test("ensures a spec that changed while the load balancer is being created", async () => {
    await start();
    harness.cloud.slowPolls = 1000;
    await harness.startProvider();
    harness.startManager().startServices();
    await eventually("it was polled", () => harness.cloud.changes.length > 1);
    await harness.user("PATCH", PATH, { spec: { sessionAffinity: "ClientIP" } });
    await eventually(
      "it was ensured again",
      () => harness.cloud.changes.filter((call) => call === "ensure web").length === 2,
    );
    for (const balancer of harness.cloud.balancers.values()) balancer.pollsLeft = 0;
    await published();
    expect(harness.cloud.created).toBe(1);
  });

  test("keeps the finalizer until a slow deletion is done, and says it once", async () => {
    await start();
    await harness.startProvider();
    harness.startManager().startServices();
    await published();
    await harness.quiet();
    harness.cloud.slowPolls = 3;
    await harness.user("DELETE", PATH);
    await eventually("it was asked for", () => harness.cloud.changes.includes("delete web"));
    expect(harness.cluster.read("v1", "Service", "default", "web")).toBeDefined();
    await eventually("it is gone", () => harness.cluster.read("v1", "Service", "default", "web") === undefined);
    await harness.quiet();
    const deletes = ["delete web", "delete web", "delete web", "delete web"];
    expect(harness.cloud.changes).toEqual(["ensure web", ...deletes]);
    expect(harness.events("web").slice(2)).toEqual([
      "Normal DeletingLoadBalancer Deleting load balancer",
      "Normal DeletedLoadBalancer Deleted load balancer",
    ]);
  });

  test("deletes a load balancer that is still being made", async () => {
    await start();
    harness.cloud.slowPolls = 1000;
    await harness.startProvider();
    harness.startManager().startServices();
    await eventually("it was polled", () => harness.cloud.changes.length > 1);
    harness.cloud.slowPolls = 0;
    await harness.user("DELETE", PATH);
    await eventually("it is gone", () => harness.cluster.read("v1", "Service", "default", "web") === undefined);
    expect(harness.cloud.balancers.size).toBe(0);
  });
});

describe("service-lb and a cloud that takes few changes at once", () => {
  test.each([
    { it: "one for the whole provider", loadBalancers: { lockScope: 3 as const }, most: 1 },
    { it: "two of different Services", loadBalancers: { lockScope: 1 as const, maxConcurrentChanges: 2 }, most: 2 },
  ])("sends $it", async ({ loadBalancers, most }) => {
    const services = Array.from({ length: 6 }, (_, index) =>
      loadBalancerService(`web${index}`, { spec: { ports: [{ port: 80, nodePort: 30_100 + index }] } }),
    );
    await start({ objects: [initializedNode("a"), ...services] });
    let [now, peak] = [0, 0];
    harness.cloud.before = async () => {
      peak = Math.max(peak, ++now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now--;
    };
    await harness.startProvider({ info: { capabilities: { loadBalancers } } });
    harness.startManager().startServices();
    await eventually("all are made", () => harness.cloud.balancers.size === services.length);
    expect(peak).toBe(most);
  });
});

describe("service-lb and errors", () => {
  test("says what the provider says and backs off 5, 10, 20 s", async () => {
    await start();
    const timesMs: number[] = [];
    harness.cloud.before = ({ method }) => {
      if (method !== "ensure") return;
      timesMs.push(performance.now());
      if (timesMs.length < 4) throw contractFailure("CLOUD_UNAVAILABLE", "the cloud answers 503");
    };
    await harness.startProvider();
    harness.startManager().startServices();
    await published();
    await harness.quiet();
    const waits = timesMs.slice(1).map((timeMs, index) => ((timeMs - (timesMs[index] ?? 0)) * 20) / 1000);
    expect(waits.map((seconds) => Math.round(seconds / 5) * 5)).toEqual([5, 10, 20]);
    expect(harness.events("web")).toEqual([
      `${ENSURING} x4`,
      "Warning SyncLoadBalancerFailed Error syncing load balancer: failed to ensure load balancer: acme EnsureLoadBalancer: CLOUD_UNAVAILABLE: the cloud answers 503 (retrying in 5 seconds to 5 minutes). To fix: check the cloud's status page, and the network between provider and cloud x3",
      ENSURED,
    ]);
    // Finalizer, cause, address: for any number of retries.
    expect(harness.writes).toHaveLength(3);
  });

  test("waits as long as the provider asks if that is longer than the back-off (case A-3)", async () => {
    await start({ objects: [initializedNode("a")] });
    const timesMs: number[] = [];
    harness.cloud.before = ({ method }) => {
      if (method !== "ensure") return;
      timesMs.push(performance.now());
      if (timesMs.length < 3) throw contractFailure("NOT_READY", "being resized", 8000);
    };
    await harness.startProvider();
    harness.startManager().startServices();
    // A node that is new meanwhile is a reason to ask at once.
    await harness.quiet();
    await harness.user("POST", "namespaces/default/services", loadBalancerService("web"));
    await eventually("it failed", () => timesMs.length > 1);
    await published();
    const waitsMs = timesMs.slice(1).map((timeMs, index) => (timeMs - (timesMs[index] ?? 0)) * 20);
    // Longer than the first back-off of 5 s; timers count from the beginning of the event loop's turn, here 20 times as fast.
    // Shorter than the last back-off, of 5 min: the rest is what a busy machine may add.
    expect(waitsMs.filter((waitMs) => waitMs < 7000 || waitMs > 200_000)).toEqual([]);
  });

  test("comes back soon and silently when another change is under way", async () => {
    await start();
    let refusals = 2;
    harness.cloud.before = ({ method }) => {
      if (method === "ensure" && refusals-- > 0) throw contractFailure("OPERATION_IN_PROGRESS", "busy");
    };
    await harness.startProvider();
    harness.startManager().startServices();
    await published();
    await harness.quiet();
    expect(harness.events("web")).toEqual([`${ENSURING} x3`, ENSURED]);
  });

  test("does not ask again for what is final until the Service changes", async () => {
    await start();
    harness.cloud.before = ({ method, request }) => {
      if (method === "ensure" && !JSON.stringify(request, bigints).includes('"port":81')) {
        throw contractFailure("FIELD_INVALID", "port 80 is not allowed");
      }
    };
    await harness.startProvider();
    harness.startManager().startServices();
    await eventually("it was said", () => harness.events("web").length === 2);
    await harness.quiet();
    expect(harness.cloud.changes.filter((call) => call !== "get web")).toEqual(["ensure web"]);
    await harness.user("PATCH", PATH, { spec: { ports: [{ port: 81, nodePort: 30_080 }] } });
    await published();
  });

  test("keeps the finalizer while the cloud refuses to delete", async () => {
    await start();
    await harness.startProvider();
    harness.startManager().startServices();
    await published();
    await harness.quiet();
    harness.cluster.clearRequests();
    harness.cloud.before = ({ method }) => {
      if (method === "delete") throw contractFailure("DELETION_PROTECTED", "protected in the cloud");
    };
    await harness.user("DELETE", PATH);
    // An operator must act: 1 min of the controllers' time.
    await eventually(
      "it failed twice",
      () => harness.cloud.changes.filter((call) => call === "delete web").length === 2,
    );
    const why =
      "failed to delete load balancer: acme DeleteLoadBalancer: DELETION_PROTECTED: protected in the cloud (retrying in 1 to 5 minutes, or when the Service changes). To fix: annotate the Service with service.cloudwire.dev/deletion-protection=false to delete both";
    const says = `PATCH ${PATH}/status {"metadata":{"uid":"U"},"status":{${saying("False", "DeletionProtected", why)}}}`;
    expect([harness.writes.map(masked), harness.cloud.balancers.size]).toEqual([[says], 1]);
    expect(harness.events("web").map((event) => event.replace(/ x\d+$/, ""))).toContain(
      `Warning SyncLoadBalancerFailed Error syncing load balancer: ${why}`,
    );
    harness.cloud.before = () => undefined;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await eventually("it is gone", () => harness.cluster.read("v1", "Service", "default", "web") === undefined);
  });
});

describe("service-lb and processes that die", () => {
  test("makes exactly one load balancer when the provider dies before its answer", async () => {
    await start();
    harness.cloud.after = ({ method }) => (method === "ensure" ? never : undefined);
    const first = await harness.startProvider();
    harness.startManager().startServices();
    await eventually("the load balancer is made", () => harness.cloud.balancers.size === 1);
    harness.cloud.after = () => undefined;
    for (const call of harness.cloud.calls) call.endMs = performance.now();
    await first[Symbol.asyncDispose]();
    await harness.startProvider({ bootId: "boot-2" });
    await published();
    await harness.quiet();
    expect([harness.cloud.created, harness.cloud.changes]).toEqual([1, ["ensure web", "ensure web"]]);
    const ids = harness.cloud.calls.map(
      ({ request }) => /"requestId":"([^"]+)"/.exec(JSON.stringify(request, bigints))?.[1],
    );
    expect(new Set(ids).size).toBe(1);
  });

  test("says that the provider is away, and goes on as soon as it is there", async () => {
    await start();
    const manager = harness.startManager().startServices();
    await eventually("it failed twice", () => manager.services.queue.failures(KEY) >= 2);
    await eventually("it was said", () => harness.events("web").length > 0);
    expect(harness.events("web")[0]).toContain(
      "Warning SyncLoadBalancerFailed Error syncing load balancer: provider acme is not connected",
    );
    const waitedMs = performance.now();
    await harness.startProvider();
    await published();
    expect(performance.now() - waitedMs).toBeLessThan(1500);
    expect(harness.cloud.changes).toEqual(["ensure web"]);
  });

  test.each([
    { it: "of a Service that gave up its type", change: { spec: { type: "ClusterIP" } }, isDeleted: false },
    { it: "of a Service that vanished", change: { metadata: { finalizers: null } }, isDeleted: true },
  ])(
    "tries a deletion $it again when the provider that refused it for good is replaced",
    async ({ change, isDeleted }) => {
      await start();
      const first = await harness.startProvider();
      harness.startManager().startServices();
      await published();
      await harness.quiet();
      harness.cloud.before = ({ method }) => {
        if (method === "delete") throw contractFailure("FIELD_INVALID", "a bug of this release");
      };
      if (isDeleted) await harness.user("DELETE", PATH);
      await harness.user("PATCH", PATH, change);
      await eventually("it was asked for", () => harness.cloud.changes.includes("delete web"));
      await harness.quiet();
      expect(harness.cloud.balancers.size).toBe(1);
      harness.cloud.before = () => undefined;
      await first[Symbol.asyncDispose]();
      await harness.startProvider({ bootId: "boot-2" });
      await eventually("nothing is left", () => harness.cloud.balancers.size === 0);
    },
  );

  test("publishes without another change when the controller died before the status was written", async () => {
    await start();
    await harness.startProvider({ info: { capabilities: { loadBalancers: { validateOnly: true } } } });
    harness.intercept = ({ body }) => (body.includes("ingress") ? never : { kind: "pass" });
    const first = harness.startManager().startServices();
    await eventually("the status was sent", () => harness.writes.length === 2);
    await first.kill();
    harness.intercept = undefined;
    harness.cluster.clearRequests();
    harness.startManager().startServices();
    await published();
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "get web", "check web"]);
    expect(harness.writes.map(masked)).toEqual([
      `PATCH ${PATH}/status {"metadata":{"uid":"U"},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","ipMode":"VIP"}]},${READY}}}`,
    ]);
  });

  test("goes on with a deletion that an earlier process began", async () => {
    await start();
    await harness.startProvider();
    const first = harness.startManager().startServices();
    await published();
    await first.kill();
    await harness.user("DELETE", PATH);
    harness.startManager().startServices();
    await eventually("it is gone", () => harness.cluster.read("v1", "Service", "default", "web") === undefined);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "delete web"]);
  });

  test("goes on with such a deletion when the Service vanishes meanwhile", async () => {
    await start();
    await harness.startProvider();
    const first = harness.startManager().startServices();
    await published();
    await harness.quiet();
    await first.kill();
    harness.cloud.slowPolls = 1000;
    await harness.user("DELETE", PATH);
    harness.startManager().startServices();
    await eventually("it was asked for", () => harness.cloud.changes.includes("delete web"));
    await harness.user("PATCH", PATH, { metadata: { finalizers: null } });
    expect(harness.cluster.read("v1", "Service", "default", "web")).toBeUndefined();
    for (const uid of harness.cloud.balancers.keys()) harness.cloud.deleting.set(uid, 2);
    await eventually("nothing is left", () => harness.cloud.balancers.size === 0);
    await harness.quiet();
    expect(harness.events("web").at(-1)).toBe("Normal DeletedLoadBalancer Deleted load balancer");
  });

  test("changes nothing after a restart when nothing has changed, reads by one list, and checks each once (case S-12)", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `web${index}`);
    const services = names.map((name, index) =>
      loadBalancerService(name, { spec: { ports: [{ port: 80, nodePort: 30_100 + index }] } }),
    );
    await start({ objects: [initializedNode("a"), ...services] });
    const loadBalancers = { updateNodes: true, validateOnly: true, list: { maxPageSize: 100 } };
    await harness.startProvider({ info: { capabilities: { loadBalancers } } });
    const first = harness.startManager().startServices();
    await eventually("all are made", () => harness.cloud.balancers.size === names.length);
    await harness.quiet();
    await first.kill();
    harness.cloud.calls.length = 0;
    harness.cluster.clearRequests();
    harness.startManager().startServices();
    const read = ["list all", ...names.map((name) => `check ${name}`).toSorted()];
    await eventually("they were read", () => harness.cloud.calls.length === read.length);
    await harness.quiet();
    const [list = "", ...checks] = harness.cloud.changes;
    expect([[list, ...checks.toSorted()], harness.writes]).toEqual([read, []]);
    await harness.user("POST", "nodes", initializedNode("b"));
    await eventually("all are updated", () => harness.cloud.calls.length === read.length + names.length);
    await harness.quiet();
    expect(harness.cloud.changes.slice(read.length).toSorted()).toEqual(
      names.map((name) => `update ${name}`).toSorted(),
    );
  });
});

function bigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
