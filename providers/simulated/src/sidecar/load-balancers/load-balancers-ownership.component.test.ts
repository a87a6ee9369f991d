import { describe, expect, test } from "vitest";
import { loadBalancerCalls } from "../../test/load-balancer-calls.ts";
import { soon } from "../../test/test-cloud.ts";
import { failureOf, type TestProvider } from "../../test/test-provider.ts";

let provider: TestProvider;
const { ensure, updateNodes, remove, inCloud } = loadBalancerCalls((started) => {
  provider = started.provider;
});

describe("ownership", () => {
  test("keeps clusters apart: each Service UID of each cluster has its own load balancer", async () => {
    await ensure();
    await ensure({ cluster: "cluster-2" });
    expect(await inCloud()).toHaveLength(2);
    await remove({ cluster: "cluster-2" });
    expect(await inCloud()).toMatchObject([{ tags: { "cloudwire.dev/cluster-id": "cluster-1" } }]);
  });

  test.each([
    ["no ownership tags", {}, "NAME_TAKEN"],
    ["the ownership tags of another cluster", { "cloudwire.dev/cluster-id": "cluster-9" }, "OWNED_BY_ANOTHER_CLUSTER"],
    ["another cluster in its ownership tags", "of another cluster", "OWNED_BY_ANOTHER_CLUSTER"],
  ])("does not touch a load balancer of its name with %s", async (_, ownerTags, reason) => {
    await ensure();
    const [made] = await inCloud();
    const tags = typeof ownerTags === "string" ? { ...made?.tags, "cloudwire.dev/cluster-id": "cluster-9" } : ownerTags;
    await provider.cloud.client.patchLoadBalancer(made?.id ?? "", { tags }, soon());
    const [foreign] = await inCloud();
    expect(await failureOf(ensure())).toBe(reason);
    expect(await failureOf(updateNodes([]))).toBe("LOAD_BALANCER_NOT_FOUND");
    expect((await remove()).done).toBe(true);
    expect(await inCloud()).toEqual([foreign]);
  });

  test("adopts a load balancer on an operator's word, and keeps it", async () => {
    const spec = { name: "handmade", listeners: [{ port: 8080, protocol: "tcp" as const, targetPort: 1 }] };
    const { loadBalancer: handmade } = await provider.cloud.client.createLoadBalancer(spec, soon());
    const adopted = await ensure({ adopt: handmade.id });
    expect(adopted.loadBalancer).toMatchObject({
      id: handmade.id,
      ingress: { items: [{ ip: handmade.address }] },
      registeredNodes: 2,
    });
    expect((await ensure()).loadBalancer).toMatchObject({ id: handmade.id });
    expect(await remove()).toMatchObject({ done: true });
    expect(await inCloud()).toEqual([]);
  });
});
