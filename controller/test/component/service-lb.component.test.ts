import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/scripted-provider.ts";
import type { Balancer } from "./support/cloud.ts";
import type { CloudProviderOptions } from "./support/cloud-provider.ts";
import { Harness, type HarnessOptions, type Manager, SPEED } from "./support/harness.ts";
import { initializedNode, loadBalancerService, masked, registeredNode } from "./support/objects.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const ENSURING = "Normal EnsuringLoadBalancer Ensuring load balancer";
const ENSURED = "Normal EnsuredLoadBalancer Ensured load balancer";
const UPDATED = "Normal UpdatedLoadBalancer Updated load balancer with new hosts";
const DELETING = "Normal DeletingLoadBalancer Deleting load balancer";
const DELETED = "Normal DeletedLoadBalancer Deleted load balancer";
const PATH = "namespaces/default/services/web";
const ADD_FINALIZER = `PATCH ${PATH}/status {"metadata":{"uid":"U","finalizers":["${FINALIZER}"]}}`;
const PUBLISH = `PATCH ${PATH}/status {"metadata":{"uid":"U"},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","ipMode":"VIP"}]}}}`;
const REMOVE = `PATCH ${PATH}/status {"metadata":{"uid":"U","$deleteFromPrimitiveList/finalizers":["${FINALIZER}"]},"status":{"loadBalancer":{"ingress":null}}}`;

let harness: Harness;

async function start(options: HarnessOptions = {}): Promise<void> {
  harness = await Harness.start(options);
}

/** A cluster with two nodes and a load balancer that is as it should be; what happened so far is forgotten. */
async function startSettled({ provider }: { readonly provider?: CloudProviderOptions } = {}): Promise<Manager> {
  await start({ objects: [initializedNode("a"), initializedNode("b"), loadBalancerService("web")] });
  await harness.startProvider(provider);
  const manager = harness.startManager().startServices();
  await eventually("the address is published", () => ip() !== undefined);
  await harness.quiet();
  forget();
  return manager;
}

function forget(): void {
  harness.cluster.clearRequests();
  harness.cloud.calls.length = 0;
}

afterEach(async () => {
  const { overlaps } = harness.cloud;
  await harness[Symbol.asyncDispose]();
  if (overlaps.length > 0) throw new Error(`calls for one Service overlapped: ${overlaps.join("; ")}`);
});

function web(): unknown {
  return harness.cluster.read("v1", "Service", "default", "web");
}

function ip(): string | undefined {
  return /"ingress":\[\{"ip":"([^"]+)"/.exec(JSON.stringify(web()) ?? "")?.[1];
}

function balancer(): Balancer | undefined {
  return [...harness.cloud.balancers.values()][0];
}

/** Events without the counts of repetition. */
function reasons(): readonly string[] {
  return harness.events("web").map((event) => event.replace(/ x\d+$/, ""));
}

describe("service-lb and a Service's life", () => {
  test("creates: finalizer, load balancer with the nodes that may serve, event, status", async () => {
    await start({
      objects: [
        initializedNode("a"),
        initializedNode("b"),
        registeredNode("without-provider-id"),
        initializedNode("excluded", { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } }),
        initializedNode("going", { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] }),
        initializedNode("foreign", { providerID: "gce://foreign" }),
        loadBalancerService("web"),
        loadBalancerService("plain", { spec: { type: "ClusterIP", ports: [{ port: 80 }] } }),
      ],
    });
    await harness.startProvider();
    harness.startManager().startServices();
    await harness.quiet();
    expect(harness.writes.map(masked)).toEqual([ADD_FINALIZER, PUBLISH]);
    expect(harness.cloud.changes).toEqual(["ensure web"]);
    expect(harness.cloud.calls[0]?.request).toMatchObject({
      change: { trigger: "service created", validateOnly: false },
      service: { namespace: "default", name: "web" },
      spec: { ports: [{ port: 80, nodePort: 30_080, protocol: 1 }] },
      nodes: { count: 2 },
    });
    expect(balancer()?.nodes).toEqual(["a", "b"]);
    expect(harness.events("web")).toEqual([ENSURING, ENSURED]);
    expect(harness.events("plain")).toEqual([]);
  });

  test("ensures again when an annotation changes, and writes nothing that is there", async () => {
    await startSettled();
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web"]);
    expect(harness.writes).toEqual([]);
    expect(harness.events("web")).toEqual([`${ENSURING} x2`, `${ENSURED} x2`]);
  });

  test("does nothing when something changes that no load balancer depends on", async () => {
    await startSettled();
    await harness.user("PATCH", PATH, {
      metadata: { labels: { touched: "yes" } },
      spec: { internalTrafficPolicy: "Local" },
    });
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes]).toEqual([[], []]);
  });

  test("deletes the load balancer before the finalizer goes", async () => {
    await startSettled();
    await harness.user("DELETE", PATH);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["delete web"]);
    expect(harness.writes.map(masked)).toEqual([REMOVE]);
    expect([web(), harness.cloud.balancers.size]).toEqual([undefined, 0]);
    expect(harness.events("web")).toEqual([ENSURING, ENSURED, DELETING, DELETED]);
  });

  test("deletes the load balancer of a Service that wants none any more, and makes one again", async () => {
    await startSettled();
    await harness.user("PATCH", PATH, { spec: { type: "ClusterIP" } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["delete web"]);
    expect(web()).toMatchObject({
      metadata: { name: "web" },
      spec: { type: "ClusterIP" },
      status: { loadBalancer: {} },
    });
    expect(JSON.stringify(web())).not.toContain(FINALIZER);
    await harness.user("PATCH", PATH, { spec: { type: "LoadBalancer" } });
    await eventually("there is another", () => ip() === "192.0.2.2");
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["delete web", "ensure web"]);
  });

  test("deletes what is left of a Service that vanished without its finalizer", async () => {
    await startSettled();
    harness.intercept = ({ userAgent }) =>
      userAgent === "a-user"
        ? { kind: "pass" }
        : new Promise((resolve) => setTimeout(() => resolve({ kind: "pass" }), 100));
    await harness.user("PATCH", PATH, { metadata: { finalizers: null } });
    await harness.user("DELETE", PATH);
    await eventually("the load balancer is gone", () => harness.cloud.balancers.size === 0);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["delete web"]);
    expect(reasons().slice(-2)).toEqual([DELETING, DELETED]);
  });

  test("asks the cloud for nothing when the Service is gone before it has the finalizer", async () => {
    await start({ objects: [initializedNode("a"), loadBalancerService("web")] });
    await harness.startProvider();
    harness.intercept = async ({ method, userAgent }) => {
      if (method === "PATCH" && userAgent !== "a-user") await harness.user("DELETE", PATH);
      return { kind: "pass" };
    };
    harness.startManager().startServices();
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes.map(masked)]).toEqual([[], [ADD_FINALIZER]]);
  });

  test.each(["before", "after"] as const)(
    "deletes what was made for a Service that vanished %s the cloud made it",
    async (phase) => {
      await start({ objects: [initializedNode("a"), loadBalancerService("web")] });
      await harness.startProvider();
      harness.cloud[phase] = async ({ method }) => {
        if (method !== "ensure") return;
        await harness.user("PATCH", PATH, { metadata: { finalizers: null } });
        await harness.user("DELETE", PATH);
        if (phase === "after") throw contractFailure("CLOUD_TIMEOUT", "no answer");
      };
      harness.startManager().startServices();
      await eventually("it was deleted", () => harness.cloud.changes.includes("delete web"));
      await harness.quiet();
      expect(harness.cloud.changes).toEqual(["ensure web", "delete web"]);
      expect(harness.cloud.balancers.size).toBe(0);
    },
  );

  test.each([
    { it: "keeps the address when an answer does not tell one", told: undefined, want: "192.0.2.1" },
    { it: "takes the address back when an answer says that there is none", told: [], want: undefined },
  ])("$it", async ({ told, want }) => {
    await startSettled();
    for (const known of harness.cloud.balancers.values()) known.ingress = told;
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("its nodes are updated", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    const afterUpdate = ip();
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web", "ensure web"]);
    expect([afterUpdate, ip(), harness.writes.length]).toEqual([want, want, want === undefined ? 1 : 0]);
  });

  test("puts a finalizer back that somebody took off", async () => {
    await startSettled();
    await harness.user("PATCH", PATH, { metadata: { finalizers: null } });
    await harness.quiet();
    expect(harness.writes.map(masked)).toEqual([ADD_FINALIZER]);
    expect(harness.cloud.changes).toEqual([]);
  });

  test("ensures without nodes, and says that there are none", async () => {
    await start({ objects: [loadBalancerService("web")] });
    await harness.startProvider();
    harness.startManager().startServices();
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web"]);
    expect(harness.events("web")).toEqual([
      ENSURING,
      "Warning UnAvailableLoadBalancer There are no available nodes for LoadBalancer",
      ENSURED,
    ]);
  });
});

describe("service-lb and classes", () => {
  test("leaves a Service alone whose class nobody here serves, also when it is deleted", async () => {
    const spec = { loadBalancerClass: "other.example.com/nlb" };
    await start({ objects: [loadBalancerService("web", { spec, metadata: { finalizers: [FINALIZER] } })] });
    await harness.startProvider();
    harness.startManager().startServices();
    await harness.quiet();
    await harness.user("DELETE", PATH);
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes, harness.events("web")]).toEqual([[], [], []]);
    expect(JSON.stringify(web())).toContain(FINALIZER);
  });

  test("keeps the finalizer of such a Service when it gives up its type", async () => {
    const spec = { loadBalancerClass: "other.example.com/nlb" };
    await start({ objects: [loadBalancerService("web", { spec, metadata: { finalizers: [FINALIZER] } })] });
    await harness.startProvider();
    harness.startManager().startServices();
    await harness.quiet();
    await harness.user("PATCH", PATH, { spec: { type: "ClusterIP", loadBalancerClass: null } });
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes]).toEqual([[], []]);
  });

  test("takes down what is left of a Service whose class became served after it was deleted", async () => {
    const spec = { loadBalancerClass: "acme.example.com/nlb" };
    await start({ objects: [loadBalancerService("web", { spec, metadata: { finalizers: [FINALIZER] } })] });
    const first = await harness.startProvider();
    harness.startManager().startServices();
    await harness.quiet();
    await harness.user("DELETE", PATH);
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes]).toEqual([[], []]);
    await first[Symbol.asyncDispose]();
    await harness.startProvider({
      bootId: "boot-2",
      info: { capabilities: { loadBalancers: { updateNodes: true, classes: ["acme.example.com/nlb"] } } },
    });
    await eventually("it is gone", () => web() === undefined);
    expect(harness.cloud.changes).toEqual(["delete web"]);
  });

  test("serves a class that the provider declares", async () => {
    await start({ objects: [loadBalancerService("web", { spec: { loadBalancerClass: "acme.example.com/nlb" } })] });
    await harness.startProvider({
      info: { capabilities: { loadBalancers: { updateNodes: true, classes: ["acme.example.com/nlb"] } } },
    });
    harness.startManager().startServices();
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web"]);
    expect(harness.cloud.calls[0]?.request).toMatchObject({ spec: { class: "acme.example.com/nlb" } });
  });

  test("leaves a Service to others when the provider says that it is theirs, until it changes or is deleted", async () => {
    await start({ objects: [initializedNode("a"), loadBalancerService("web")] });
    await harness.startProvider();
    harness.cloud.before = ({ method }) => {
      if (method === "ensure") throw contractFailure("NOT_RESPONSIBLE", "the annotation names another controller");
    };
    harness.startManager().startServices();
    await harness.quiet();
    await harness.user("POST", "nodes", initializedNode("b"));
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes.map(masked)]).toEqual([["ensure web"], [ADD_FINALIZER]]);
    expect(harness.events("web")).toEqual([ENSURING]);
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "get web", "ensure web"]);
    await harness.user("DELETE", PATH);
    await harness.quiet();
    expect([harness.cloud.changes[3], web()]).toEqual(["delete web", undefined]);
  });

  test("makes nothing that would be open to everybody, and says why", async () => {
    await start({ objects: [loadBalancerService("web", { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } })] });
    await harness.startProvider();
    harness.startManager().startServices();
    await harness.quiet();
    expect([harness.cloud.changes, harness.writes]).toEqual([[], []]);
    expect(reasons()).toEqual([
      "Warning SyncLoadBalancerFailed Error syncing load balancer: spec.loadBalancerSourceRanges: clients are limited to 192.0.2.0/24; the provider cannot limit clients, and would let everybody in",
    ]);
    await harness.user("PATCH", PATH, { spec: { loadBalancerSourceRanges: null } });
    await eventually("the address is published", () => ip() !== undefined);
  });
});

describe("service-lb and a wish that is refused", () => {
  const ranges = { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } };
  const port81 = { spec: { ports: [{ port: 81, nodePort: 30_080 }] } };
  const REFUSED = "Warning SyncLoadBalancerFailed Error syncing load balancer: ";
  const refusals = (): number => reasons().filter((event) => event.startsWith(REFUSED)).length;
  const refuseEnsure = (): void => {
    harness.cloud.before = ({ method }) => {
      if (method === "ensure") throw contractFailure("FIELD_INVALID", "port 81 is not allowed");
    };
  };

  test("keeps the nodes current while the provider cannot do what is wished", async () => {
    await startSettled();
    await harness.user("PATCH", PATH, ranges);
    await eventually("it was refused", () => refusals() === 1);
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web"]);
    expect(reasons()).toEqual([ENSURING, ENSURED, expect.stringContaining(REFUSED), UPDATED]);
    await harness.user("PATCH", PATH, { spec: { loadBalancerSourceRanges: null } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web"]);
    await harness.user("PATCH", PATH, port81);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web", "ensure web"]);
  });

  test("keeps the nodes current by Ensure with what was last accepted", async () => {
    await startSettled({ provider: { info: { capabilities: { loadBalancers: { updateNodes: false } } } } });
    await harness.user("PATCH", PATH, { spec: { ...ranges.spec, ...port81.spec } });
    await eventually("it was refused", () => refusals() === 1);
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    expect(harness.cloud.changes).toEqual(["ensure web"]);
    expect(harness.cloud.calls[0]?.request).toMatchObject({ spec: { ports: [{ port: 80 }] } });
  });

  test("keeps the nodes current while the provider has refused a change for good, and asks it no more", async () => {
    await startSettled();
    refuseEnsure();
    await harness.user("PATCH", PATH, port81);
    await eventually("it was refused", () => refusals() === 1);
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "update web"]);
    harness.cloud.before = () => undefined;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "update web", "ensure web"]);
  });

  test.each([
    { it: "unsupported", change: ranges, want: ["get web", "update web"] },
    {
      it: "refused by the provider",
      change: port81,
      want: ["get web", "ensure web", "update web"],
    },
  ])("brings nodes to a load balancer of an earlier process while the wish is $it", async ({ change, want }) => {
    const manager = await startSettled();
    await manager.kill();
    await harness.user("PATCH", PATH, change);
    await harness.user("POST", "nodes", initializedNode("c"));
    refuseEnsure();
    harness.startManager().startServices();
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    await eventually("it was refused", () => refusals() === 1);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(want);
    expect(ip()).toBe("192.0.2.1");
  });
});

describe("service-lb and nodes", () => {
  test("follows nodes that join, leave and are excluded, with one update each", async () => {
    await startSettled();
    const expectNodes = async (...names: readonly string[]): Promise<void> => {
      await eventually(`the nodes are ${names.join(" ")}`, () => balancer()?.nodes.join(" ") === names.join(" "));
      await harness.quiet();
    };
    await harness.user("POST", "nodes", initializedNode("c"));
    await expectNodes("a", "b", "c");
    await harness.user("DELETE", "nodes/b");
    await expectNodes("a", "c");
    const exclude = "node.kubernetes.io/exclude-from-external-load-balancers";
    await harness.user("PATCH", "nodes/c", { metadata: { labels: { [exclude]: "true" } } });
    await expectNodes("a");
    await harness.user("PATCH", "nodes/c", { metadata: { labels: { [exclude]: "false" } } });
    await expectNodes("a", "c");
    expect(harness.cloud.changes).toEqual(["update web", "update web", "update web", "update web"]);
    expect(harness.writes).toEqual([]);
    expect(harness.events("web")).toEqual([ENSURING, ENSURED, `${UPDATED} x4`]);
  });

  test("makes few updates of ten nodes that join over five seconds", async () => {
    await startSettled();
    const startMs = performance.now();
    for (let index = 0; index < 10; index++) {
      await harness.user("POST", "nodes", registeredNode(`n${index}`));
      await harness.user("PATCH", `nodes/n${index}`, { spec: { providerID: `acme://n${index}` } });
      // 5 s of the controllers' time.
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    await eventually("all nodes are there", () => balancer()?.nodes.length === 12);
    // A busy machine takes longer, and each window of 2 s of the controllers' time may be one update.
    const windows = Math.ceil(((performance.now() - startMs) * SPEED) / 2000);
    await harness.quiet();
    expect(harness.cloud.changes.length).toBeLessThanOrEqual(windows + 1);
    expect(new Set(harness.cloud.changes)).toEqual(new Set(["update web"]));
  });

  test("sends nodes with Ensure to a provider that has no call for them", async () => {
    await start({ objects: [initializedNode("a"), loadBalancerService("web")] });
    await harness.startProvider({ info: { capabilities: { loadBalancers: { updateNodes: false } } } });
    harness.startManager().startServices();
    await harness.quiet();
    await harness.user("POST", "nodes", initializedNode("b"));
    await eventually("the node is there", () => balancer()?.nodes.length === 2);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["ensure web", "ensure web"]);
    expect(harness.events("web")).toEqual([ENSURING, ENSURED, UPDATED]);
  });

  test("says that an update failed and tries that again, not the whole", async () => {
    const manager = await startSettled();
    harness.cloud.before = ({ method }) => {
      if (method === "update") throw contractFailure("CLOUD_UNAVAILABLE", "the cloud answers 503");
    };
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("it failed twice", () => manager.services.queue.failures("default/web") === 2);
    harness.cloud.before = () => undefined;
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    expect(new Set(harness.cloud.changes)).toEqual(new Set(["update web"]));
    expect(reasons()).toEqual([
      ENSURING,
      ENSURED,
      "Warning UpdateLoadBalancerFailed Error updating load balancer with new hosts [a b c] [node names limited, total number of nodes: 3], error: acme UpdateLoadBalancerNodes: CLOUD_UNAVAILABLE: the cloud answers 503",
      UPDATED,
    ]);
  });

  test("makes a load balancer again that vanished at the cloud", async () => {
    await startSettled();
    harness.cloud.balancers.clear();
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("there is another", () => ip() === "192.0.2.2");
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web", "ensure web"]);
    expect(reasons()).toEqual([ENSURING, ENSURED]);
  });

  test("ensures one time, and not in a loop, when the provider does not find what it has", async () => {
    await startSettled();
    harness.cloud.before = ({ method }) => {
      if (method === "update" || method === "ensure") throw contractFailure("LOAD_BALANCER_NOT_FOUND", "not found");
    };
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("it was ensured", () => harness.cloud.changes.includes("ensure web"));
    harness.cloud.before = () => undefined;
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web", "ensure web", "ensure web"]);
    expect(balancer()?.nodes).toEqual(["a", "b", "c"]);
  });
});
