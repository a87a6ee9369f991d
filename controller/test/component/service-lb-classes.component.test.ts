import { describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import type { Harness } from "./support/harness.ts";
import { initializedNode, loadBalancerService, masked } from "./support/objects.ts";
import { ENSURING, FINALIZER, PATH, saying, serviceLbHelpers, TAKE_UP, UNSAID } from "./support/service-lb.ts";

let harness: Harness;
const { start, web, ip, reasons } = serviceLbHelpers((started) => {
  harness = started;
});

describe("service-lb and classes", () => {
  test("does not touch a Service whose class no provider serves, also when it is deleted", async () => {
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
    const says = `PATCH ${PATH}/status {"metadata":{"uid":"U"},"status":{${UNSAID}}}`;
    expect([harness.cloud.changes, harness.writes.map(masked)]).toEqual([["ensure web"], [TAKE_UP, says]]);
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
    const why =
      "spec.loadBalancerSourceRanges: clients are limited to 192.0.2.0/24; the provider cannot restrict clients, and would allow all (retrying when the Service or the provider changes). To fix: change the field or annotation that the message names";
    const says = `PATCH ${PATH}/status {"metadata":{"uid":"U"},"status":{${saying("False", "Rejected", why)}}}`;
    expect([harness.cloud.changes, harness.writes.map(masked)]).toEqual([[], [says]]);
    expect(reasons()).toEqual([`Warning SyncLoadBalancerFailed Error syncing load balancer: ${why}`]);
    await harness.user("PATCH", PATH, { spec: { loadBalancerSourceRanges: null } });
    await eventually("the address is published", () => ip() !== undefined);
  });
});
