import type { ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { EnsureLoadBalancerResponse, GetLoadBalancerResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { BatchEnsureRoutesResponse } from "@cloudwire/proto/cloudprovider/v1/route";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClientHarness, ensureInput, SERVICE } from "../../test/support/provider/client-harness.ts";
import { contractFailure, providerInfo } from "../../test/support/provider/scripted-provider.ts";

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

const options = () => ({ signal: world.harness.signal });

const ROUTE = {
  id: "",
  nameHint: "",
  targetProviderId: "acme://1",
  targetNodeName: "n1",
  destinationCidr: "10.1.0.0/24",
  targetAddresses: [],
  blackhole: false,
};

describe("the sequence of changes", () => {
  test("grows from change to change, whatever they are about", async () => {
    const seen: bigint[] = [];
    const note = ({ change }: { readonly change: ChangeContext | undefined }) => void seen.push(change?.sequence ?? 0n);
    await world.start({
      getProviderInfo: () => providerInfo({ capabilities: { loadBalancers: {}, routes: { maxBatchSize: 1 } } }),
      ensureLoadBalancer: (request) => {
        note(request);
        return EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-1", service: SERVICE, phase: 2 } });
      },
      batchEnsureRoutes: (request) => {
        note(request);
        return BatchEnsureRoutesResponse.fromPartial({
          results: request.routes.map((route) => ({ outcome: { $case: "route", value: route } })),
        });
      },
    });
    const { client } = world.sidecar;
    await client.ensureLoadBalancer(ensureInput(), options());
    await client.ensureRoutes([ROUTE, { ...ROUTE, destinationCidr: "10.2.0.0/24" }], options());
    await client.ensureLoadBalancer(ensureInput(), options());
    const [first = 0n] = seen;
    expect(seen).toEqual([first, first + 1n, first + 2n, first + 3n]);
    expect(Number(first >> 20n)).toBeGreaterThan(Date.UTC(2026, 0, 1));
  });

  test.each(["a call", "an item"])(
    "goes above what a provider has applied that refuses %s as too late",
    async (what) => {
      const applied = (BigInt(Date.UTC(2100, 0, 1)) << 20n) + 5n;
      const metadata = { applied_sequence: String(applied) };
      const seen: bigint[] = [];
      await world.start({
        getProviderInfo: () => providerInfo({ capabilities: { loadBalancers: {}, routes: { maxBatchSize: 1 } } }),
        ensureLoadBalancer: ({ change }) => {
          seen.push(change?.sequence ?? 0n);
          if (what === "a call") throw contractFailure("STALE_GENERATION", "late", undefined, metadata);
          return EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-1", service: SERVICE, phase: 2 } });
        },
        batchEnsureRoutes: () =>
          BatchEnsureRoutesResponse.fromPartial({
            results: [
              {
                outcome: { $case: "error", value: { code: 10, reason: "STALE_GENERATION", message: "late", metadata } },
              },
            ],
          }),
      });
      const { client } = world.sidecar;
      if (what === "an item") await client.ensureRoutes([ROUTE], options());
      await client.ensureLoadBalancer(ensureInput(), options()).catch(() => undefined);
      await client.ensureLoadBalancer(ensureInput(), options()).catch(() => undefined);
      expect(seen.at(-1)).toBeGreaterThan(applied);
      expect(world.harness.log.lines).toContainEqual(
        expect.objectContaining({ message: expect.stringContaining("applied a newer change") }),
      );
    },
  );
});

test("an answer that was throttled on its way slows the next calls down", async () => {
  await world.start({
    getLoadBalancer: () =>
      GetLoadBalancerResponse.fromPartial({
        outcome: { $case: "absent", value: { basis: 1, observeTime: new Date() } },
        stats: { cloudCalls: 3, throttled: true },
      }),
  });
  await world.sidecar.client.getLoadBalancer({ service: SERVICE, annotations: {} }, options());
  expect(
    await world.harness.metrics.value("cloudwire_provider_throttle_pauses_total", { quota_class: "load_balancers" }),
  ).toBe(1);
  expect(world.sidecar.snapshot.budgets.find(({ classes }) => classes.includes("load_balancers"))).toMatchObject({
    cloudCallsPerSecond: 1,
    tokens: 0,
  });
});
