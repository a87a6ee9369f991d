import { describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import { type Harness, SPEED } from "./support/harness.ts";
import { initializedNode, loadBalancerService, registeredNode } from "./support/objects.ts";
import { ENSURED, ENSURING, UPDATED, serviceLbHelpers } from "./support/service-lb.ts";

let harness: Harness;
const { start, startSettled, ip, balancer, reasons } = serviceLbHelpers((started) => {
  harness = started;
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
      "Warning UpdateLoadBalancerFailed Error updating load balancer with new hosts [a b c] [node names limited, total number of nodes: 3], error: acme UpdateLoadBalancerNodes: CLOUD_UNAVAILABLE: the cloud answers 503 (retrying in 5 seconds to 5 minutes). To fix: check the cloud's status page, and the network between provider and cloud",
      UPDATED,
    ]);
  });

  test("recreates a load balancer that is missing in the cloud", async () => {
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
    // Each of the two fails once.
    const failing = new Set(["update", "ensure"]);
    harness.cloud.before = ({ method }) => {
      if (failing.delete(method)) throw contractFailure("LOAD_BALANCER_NOT_FOUND", "not found");
    };
    await harness.user("POST", "nodes", initializedNode("c"));
    await eventually("the node is there", () => balancer()?.nodes.length === 3);
    await harness.quiet();
    expect(harness.cloud.changes).toEqual(["update web", "ensure web", "ensure web"]);
    expect(balancer()?.nodes).toEqual(["a", "b", "c"]);
  });
});
