import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClientHarness, ensureInput, SERVICE, targetOf } from "../../test/support/provider/client-harness.ts";
import type { TargetNode } from "./model/load-balancer.ts";
import { contractFailure, providerInfo } from "../../test/support/provider/scripted-provider.ts";
import type { EnsureLoadBalancerInput } from "./model/client.ts";
import { prepareTarget } from "./convert/node.ts";
import { nodeSelection } from "./convert/node.ts";

const selectionOf = (nodes: readonly TargetNode[]) => nodeSelection(nodes.map(prepareTarget));

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("limits of the provider", () => {
  const target = (index: number) => targetOf(`n${index}`, `acme://${index}`);
  const withNodes = (count: number): EnsureLoadBalancerInput => ({
    ...ensureInput(),
    nodes: selectionOf(Array.from({ length: count }, (_, index) => target(index))),
  });

  test("too many nodes are refused here, with what to do", async () => {
    const limits = { maxConcurrentCalls: 16, maxReceiveBytes: 4_194_304n, maxInlineNodes: 2 };
    await world.start({ getProviderInfo: () => providerInfo({ limits }) });
    const { nodes } = withNodes(3);
    const signal = world.harness.signal;
    const refused = {
      reason: "FIELD_TOO_LARGE",
      message: expect.stringMatching(/3 nodes.*at most 2.*max_inline_nodes/),
    };
    const calls = [
      world.sidecar.client.ensureLoadBalancer(withNodes(3), { signal }),
      world.sidecar.client.updateLoadBalancerNodes({ service: SERVICE, annotations: {}, nodes }, { signal }),
    ];
    expect(await Promise.allSettled(calls)).toMatchObject([{ reason: refused }, { reason: refused }]);
    await world.sidecar.client.ensureLoadBalancer(withNodes(2), { signal });
    expect(world.provider.callsOf("ensureLoadBalancer")).toHaveLength(1);
  });

  test("a change larger than the provider takes is refused here, with what to do", async () => {
    const limits = { maxConcurrentCalls: 16, maxReceiveBytes: 1000n };
    await world.start({ getProviderInfo: () => providerInfo({ limits }) });
    await expect(
      world.sidecar.client.ensureLoadBalancer(withNodes(100), { signal: world.harness.signal }),
    ).rejects.toMatchObject({
      reason: "FIELD_TOO_LARGE",
      message: expect.stringMatching(/EnsureLoadBalancer.*bytes.*at most 1000.*max_receive_bytes/),
    });
    expect(world.provider.callsOf("ensureLoadBalancer")).toHaveLength(0);
  });

  test("calls that wait because of how many it takes at once are held with the others once the cloud throttles", async () => {
    await world.start({
      getProviderInfo: () => providerInfo({ limits: { maxConcurrentCalls: 1 } }),
      ensureLoadBalancer: () => {
        throw contractFailure("RATE_LIMITED", "slow down", 30_000);
      },
    });
    const { client } = world.sidecar;
    const calls = Array.from({ length: 10 }, () =>
      client.ensureLoadBalancer(ensureInput(), { signal: world.harness.signal }),
    );
    const refused = { status: "rejected", reason: { reason: "RATE_LIMITED", retryAfterMs: expect.any(Number) } };
    expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => refused));
    expect(world.provider.callsOf("ensureLoadBalancer")).toHaveLength(1);
  });
});
