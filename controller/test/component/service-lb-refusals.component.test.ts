import { describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import type { Harness } from "./support/harness.ts";
import { initializedNode } from "./support/objects.ts";
import { ENSURED, ENSURING, PATH, UPDATED, serviceLbHelpers } from "./support/service-lb.ts";

let harness: Harness;
const { startSettled, ip, balancer, reasons } = serviceLbHelpers((started) => {
  harness = started;
});

describe("service-lb and a rejected spec", () => {
  const ranges = { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } };
  const port81 = { spec: { ports: [{ port: 81, nodePort: 30_080 }] } };
  const REFUSED = "Warning SyncLoadBalancerFailed Error syncing load balancer: ";
  const refusals = (): number => reasons().filter((event) => event.startsWith(REFUSED)).length;
  const refuseEnsure = (): void => {
    harness.cloud.before = ({ method }) => {
      if (method === "ensure") throw contractFailure("FIELD_INVALID", "port 81 is not allowed");
    };
  };

  test("keeps the nodes up to date while the provider does not support the spec", async () => {
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

  test("keeps the nodes up to date after the provider has rejected a change finally, without retrying it", async () => {
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
  ])("updates the nodes of a load balancer of an earlier process while the spec is $it", async ({ change, want }) => {
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
