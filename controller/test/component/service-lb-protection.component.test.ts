import { describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import type { Harness } from "./support/harness.ts";
import { initializedNode } from "./support/objects.ts";
import { FINALIZER, PATH, serviceLbHelpers } from "./support/service-lb.ts";

const KEY = "service.cloudwire.dev/deletion-protection";
const annotations = { [KEY]: "true" };
const PROTECTED = "Warning LoadBalancerDeletionProtected ";

let harness: Harness;
const { startSettled, web, balancer, condition, reasons } = serviceLbHelpers((started) => {
  harness = started;
});

const protects = (): readonly unknown[] =>
  harness.cloud.calls.flatMap(({ method, request }) => (method === "ensure" ? [protectionIn(request)] : []));

function protectionIn(request: unknown): unknown {
  return /"deletionProtection":(true|false)/.exec(textOf(request))?.[1];
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item));
}

describe("service-lb and a Service that is protected", () => {
  test.each([
    { it: "deleted", act: () => harness.user("DELETE", PATH), gone: true },
    { it: "of another type", act: () => harness.user("PATCH", PATH, { spec: { type: "ClusterIP" } }), gone: false },
  ])("keeps its load balancer although it is $it, until that is lifted", async ({ act, gone }) => {
    const manager = await startSettled({ annotations });
    await act();
    await eventually("it says why", () => condition()?.startsWith("False DeletionProtected: ") === true);
    await harness.quiet();
    expect([harness.cloud.changes, balancer()?.nodes]).toEqual([[], ["a", "b"]]);
    expect(textOf(web())).toContain(FINALIZER);
    expect(reasons().filter((event) => event.startsWith(PROTECTED))).toHaveLength(1);

    await manager.kill();
    harness.startManager().startServices();
    await harness.quiet();
    expect([harness.cloud.balancers.size, reasons().filter((event) => event.startsWith(PROTECTED)).length]).toEqual([
      1, 1,
    ]);

    await harness.user("PATCH", PATH, { metadata: { annotations: { [KEY]: "false" } } });
    await eventually("it is gone", () => harness.cloud.balancers.size === 0);
    await eventually("it is no longer retained", () => !textOf(web() ?? "").includes(FINALIZER));
    expect([web() === undefined, condition()]).toEqual([gone, undefined]);
  });

  test("brings nodes to the load balancer meanwhile", async () => {
    await startSettled({ annotations });
    await harness.user("DELETE", PATH);
    await eventually("it says why", () => condition()?.startsWith("False DeletionProtected: ") === true);
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web"]);
    expect(condition()).toMatch(/^False DeletionProtected: /);
  });

  test("keeps what a Service left that vanished without its finalizer", async () => {
    await startSettled({ annotations });
    await harness.user("DELETE", PATH);
    await eventually("it says why", () => condition()?.startsWith("False DeletionProtected: ") === true);
    await harness.user("PATCH", PATH, { metadata: { finalizers: null } });
    await eventually("it is reported", () =>
      reasons().some((event) => event.startsWith("Warning LoadBalancerRetained ")),
    );
    await harness.quiet();
    expect([web(), harness.cloud.changes, harness.cloud.balancers.size]).toEqual([undefined, [], 1]);
  });

  test("is protected in the cloud as well, until the annotation is removed", async () => {
    const loadBalancers = { updateNodes: true, needsNodePorts: true, deletionProtection: true };
    const provider = { info: { capabilities: { instances: { maxBatchSize: 200 }, loadBalancers } } };
    await startSettled({ annotations, provider });
    let isProtected = true;
    harness.cloud.before = ({ method, request }) => {
      if (method === "ensure") isProtected = protectionIn(request) === "true";
      if (method === "delete" && isProtected) throw contractFailure("DELETION_PROTECTED", "protected in the cloud");
    };
    await harness.user("DELETE", PATH);
    await eventually("it says why", () => condition()?.startsWith("False DeletionProtected: ") === true);
    await harness.user("PATCH", PATH, { metadata: { annotations: { [KEY]: null } } });
    await eventually("it is gone", () => web() === undefined);
    expect(harness.cloud.changes).toEqual(["delete web", "ensure web", "delete web"]);
    expect(protects()).toEqual(["false"]);
  });
});
