import { randomUUID } from "node:crypto";
import type { JsonObject } from "@cloudwire/devcluster";
import { describe, expect, test } from "vitest";
import { asRecord, recordField, recordsField, stringField } from "../../src/util/json.ts";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import type { Harness } from "./support/harness.ts";
import { initializedNode, loadBalancerService } from "./support/objects.ts";
import { PATH, serviceLbHelpers } from "./support/service-lb.ts";

const READY = "True Ready: The load balancer matches the spec of the Service.";

let harness: Harness;
const { start, startSettled, web, ip, condition } = serviceLbHelpers((started) => {
  harness = started;
});

const saysSoon = (what: string): Promise<void> =>
  eventually(`the Service says ${what}`, () => condition()?.startsWith(what) === true, 20_000);

describe("the condition of a Service", () => {
  test("reports a load balancer in creation and a ready one, without an extra write", async () => {
    await start({ objects: [initializedNode("a"), loadBalancerService("web")] });
    harness.cloud.slowPolls = 1000;
    await harness.startProvider();
    harness.startManager().startServices();
    await saysSoon("False Provisioning: The load balancer is being created.");
    await eventually("it is polled", () => harness.cloud.changes.includes("get web"));
    for (const balancer of harness.cloud.balancers.values()) balancer.pollsLeft = 0;
    await saysSoon(READY);
    await harness.quiet();
    expect([ip(), harness.writes.length]).toEqual(["192.0.2.1", 2]);
  });

  test("reports a slow change while the load balancer serves", async () => {
    await startSettled();
    for (const balancer of harness.cloud.balancers.values()) balancer.pollsLeft = 1000;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await saysSoon(
      "False Updating: The load balancer is being updated; until then it serves the previous configuration.",
    );
    for (const balancer of harness.cloud.balancers.values()) balancer.pollsLeft = 0;
    await saysSoon(READY);
    expect(ip()).toBe("192.0.2.1");
  });

  test("goes when the Service wants no load balancer any more, and leaves conditions of others", async () => {
    await startSettled();
    const other = { type: "example.com/Other", status: "True", reason: "R", message: "m" };
    const conditions = [...conditionsOf(web()), { ...other, lastTransitionTime: "2026-01-01T00:00:00Z" }];
    await harness.user("PATCH", `${PATH}/status`, { status: { conditions } });
    harness.cloud.slowPolls = 2;
    await harness.user("PATCH", PATH, { spec: { type: "ClusterIP" } });
    await saysSoon("False Deleting: The load balancer is being deleted");
    await eventually("it says nothing", () => condition() === undefined);
    expect(conditionsOf(web())).toMatchObject([other]);
  });

  test("reports that there are no nodes, and when there are", async () => {
    await start({ objects: [loadBalancerService("web")] });
    await harness.startProvider();
    harness.startManager().startServices();
    await saysSoon("False NoAvailableNodes: The load balancer has no available nodes to forward traffic to. To fix: ");
    await harness.user("POST", "nodes", initializedNode("a"));
    await saysSoon(READY);
    await harness.quiet();
    expect(harness.writes).toHaveLength(3);
  });

  test.each([
    {
      reason: "QUOTA_EXCEEDED",
      says: "False QuotaExceeded: ",
      next: "(retrying in 1 to 15 minutes). To fix: request a higher quota, or free resources that count against it",
    },
    {
      reason: "OWNED_BY_ANOTHER_CLUSTER",
      says: "False OwnedByAnotherCluster: ",
      next: "(retrying in 1 to 5 minutes, or when the Service changes). To fix: delete the resource in the cloud only if the cluster that the message names no longer exists",
    },
    {
      reason: "ANNOTATION_INVALID",
      says: "False Rejected: ",
      next: "(retrying when the Service or the provider changes, or in 30 minutes). To fix: change the field or annotation that the message names",
    },
  ] as const)("reports $reason and the next retry", async ({ reason, says, next }) => {
    await startSettled();
    harness.cloud.before = ({ method }) => {
      if (method === "ensure") throw contractFailure(reason, "so it is");
    };
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await saysSoon(says);
    await harness.quiet();
    expect(condition()).toBe(
      `${says}failed to ensure load balancer: acme EnsureLoadBalancer: ${reason}: so it is ${next}`,
    );
    expect(harness.writes).toHaveLength(1);
    harness.cloud.before = () => undefined;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "again" } } });
    await saysSoon(READY);
  });

  test("is written twice at most for an error text with another ID in each attempt (case S-11)", async () => {
    await startSettled();
    let attempts = 0;
    harness.cloud.before = ({ method }) => {
      if (method !== "ensure") return;
      attempts++;
      throw contractFailure("QUOTA_EXCEEDED", `no address left, request ID: ${randomUUID()} (trace ${randomUUID()})`);
    };
    for (let times = 1; times <= 5; times++) {
      await harness.user("PATCH", PATH, { metadata: { annotations: { touched: String(times) } } });
      await eventually("it was attempted", () => attempts >= times);
      await harness.quiet();
    }
    expect(condition()).toContain("no address left, request ID: … (trace …) (retrying");
    expect(harness.writes).toHaveLength(2);
    expect(harness.events("web").filter((event) => event.startsWith("Warning SyncLoadBalancerFailed"))).toHaveLength(1);
  });

  test("keeps the condition while a provider restarts, and changes it when it stays unavailable", async () => {
    await startSettled();
    let failing = 1;
    harness.cloud.before = ({ method }) => {
      if (method === "ensure" && failing-- > 0) throw contractFailure("CLOUD_UNAVAILABLE", "the cloud answers 503");
    };
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await eventually("it failed and was done", () => harness.cloud.changes.length === 2);
    await harness.quiet();
    expect(harness.writes).toEqual([]);

    failing = 1000;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "again" } } });
    await saysSoon("Unknown CloudUnavailable: ");
    failing = 0;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "at last" } } });
    await saysSoon(READY);
    await harness.quiet();
    expect(harness.writes).toHaveLength(2);
  });
});

function conditionsOf(service: unknown): readonly JsonObject[] {
  const status = recordField(asRecord(service, "service"), "status");
  return recordsField(status, "conditions", (condition) => ({
    type: stringField(condition, "type"),
    status: stringField(condition, "status"),
    reason: stringField(condition, "reason"),
    message: stringField(condition, "message"),
    lastTransitionTime: stringField(condition, "lastTransitionTime"),
  }));
}
