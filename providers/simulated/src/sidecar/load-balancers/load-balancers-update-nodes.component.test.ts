import { describe, expect, test } from "vitest";
import type { Instance } from "../../api/instances.ts";
import { loadBalancerCalls } from "../../test/load-balancer-calls.ts";
import { failureOf } from "../../test/test-provider.ts";

let nodes: readonly Instance[];
const { ensure, updateNodes, inCloud, countCalls } = loadBalancerCalls((started) => {
  nodes = started.nodes;
});

describe("UpdateLoadBalancerNodes", () => {
  test("changes targets and nothing else, with two calls; none of them a change if nothing differs", async () => {
    await ensure();
    const changed = await countCalls(async () => updateNodes(nodes.slice(1)));
    expect(changed).toMatchObject({ total: 2, mutating: 1, result: { loadBalancer: { registeredNodes: 1 } } });
    const same = await countCalls(async () => updateNodes(nodes.slice(1)));
    expect(same).toMatchObject({ total: 1, mutating: 0, result: { loadBalancer: { registeredNodes: 1 } } });
  });

  test("returns the observed fingerprint of before (case S-12)", async () => {
    const made = (await ensure()).loadBalancer;
    const { loadBalancer } = await updateNodes(nodes.slice(1));
    expect(loadBalancer?.previousObservedFingerprint).toBe(made?.observedFingerprint);
    expect(loadBalancer?.observedFingerprint).not.toBe(made?.observedFingerprint);
  });

  test("makes nothing where there is nothing", async () => {
    expect(await failureOf(updateNodes(nodes))).toBe("LOAD_BALANCER_NOT_FOUND");
    expect(await inCloud()).toEqual([]);
  });
});
