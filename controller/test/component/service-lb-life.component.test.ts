import { describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import type { Harness } from "./support/harness.ts";
import { initializedNode, loadBalancerService, masked, registeredNode } from "./support/objects.ts";
import {
  ADD_FINALIZER,
  ENSURED,
  ENSURING,
  FINALIZER,
  PATH,
  READY,
  serviceLbHelpers,
  TAKE_UP,
  UNSAID,
} from "./support/service-lb.ts";

const DELETING = "Normal DeletingLoadBalancer Deleting load balancer";
const DELETED = "Normal DeletedLoadBalancer Deleted load balancer";
const PUBLISH = `PATCH ${PATH}/status {"metadata":{"uid":"U"},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","ipMode":"VIP"}]},${READY}}}`;
const REMOVE = `PATCH ${PATH}/status {"metadata":{"uid":"U","$deleteFromPrimitiveList/finalizers":["${FINALIZER}"]},"status":{"loadBalancer":{"ingress":null},${UNSAID}}}`;

let harness: Harness;
const { start, startSettled, web, ip, balancer, reasons } = serviceLbHelpers((started) => {
  harness = started;
});

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
    expect(harness.writes.map(masked)).toEqual([TAKE_UP, PUBLISH]);
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
    await eventually("the deletion is reported", () => reasons().at(-1) === DELETED);
    await harness.quiet();
    expect([harness.cloud.changes, harness.cloud.balancers.size]).toEqual([["delete web"], 0]);
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
    expect([harness.cloud.changes, harness.writes.map(masked)]).toEqual([[], [TAKE_UP]]);
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
    { it: "keeps the address when a response contains none", reported: undefined, want: "192.0.2.1" },
    { it: "removes the address when a response says that there is none", reported: [], want: undefined },
  ])("$it", async ({ reported, want }) => {
    await startSettled();
    for (const known of harness.cloud.balancers.values()) known.ingress = reported;
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("its nodes are updated", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    const afterUpdate = ip();
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web", "ensure web"]);
    expect([afterUpdate, ip(), harness.writes.length]).toEqual([want, want, want === undefined ? 1 : 0]);
  });

  test("restores a finalizer that another client removed", async () => {
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
