import { ListLoadBalancersRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { describe, expect, test } from "vitest";
import { loadBalancerCalls } from "../../test/load-balancer-calls.ts";
import type { TestProvider } from "../../test/test-provider.ts";

let provider: TestProvider;
const { ensure } = loadBalancerCalls((started) => {
  provider = started.provider;
});

describe("ListLoadBalancers", () => {
  test("shows the cluster's own, each with its Service", async () => {
    await ensure();
    await ensure({ uid: "uid-2" });
    await ensure({ cluster: "cluster-2" });
    const request = ListLoadBalancersRequest.fromPartial({ context: provider.context });
    const page = await provider.call(provider.client.listLoadBalancers.bind(provider.client), request);
    expect(page.complete).toBe(true);
    expect(new Set(page.loadBalancers.map((lb) => lb.service?.uid))).toEqual(new Set(["uid-1", "uid-2"]));
    expect(page.loadBalancers).toHaveLength(2);
  });
});
