import {
  ApplyNodeSetResponse,
  type EnsureLoadBalancerRequest,
  EnsureLoadBalancerResponse,
  GetLoadBalancerResponse,
  UpdateLoadBalancerNodesResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { LockScope } from "@cloudwire/proto/cloudprovider/v1/identity";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClientHarness, ensureInput, SERVICE, targetOf } from "../../test/support/provider/client-harness.ts";
import type { TargetNode } from "./model/load-balancer.ts";
import { eventually } from "../../test/support/poll.ts";
import { contractFailure, providerInfo } from "../../test/support/provider/scripted-provider.ts";
import { prepareTarget } from "./convert/node.ts";
import { nodeSelection } from "./convert/node.ts";

const selectionOf = (nodes: readonly TargetNode[]) => nodeSelection(nodes.map(prepareTarget));

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("calls about load balancers", () => {
  test("a change carries its id, is sent once, and fails at once when the provider is unavailable", async () => {
    await world.start({
      ensureLoadBalancer: () => {
        throw contractFailure("CLOUD_UNAVAILABLE", "cloud is down");
      },
    });
    const ensured = world.sidecar.client.ensureLoadBalancer(ensureInput(), {
      signal: world.harness.signal,
      requestId: "change-1",
      trigger: "service created",
    });
    await expect(ensured).rejects.toMatchObject({
      name: "ProviderError",
      reason: "CLOUD_UNAVAILABLE",
      requestId: "change-1",
    });
    const calls = world.provider.callsOf("ensureLoadBalancer");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.metadata.get("x-request-id")).toEqual(["change-1"]);
    expect(calls[0]?.request).toMatchObject({
      change: { requestId: "change-1", validateOnly: false, trigger: "service created" },
      service: { uid: "uid-1" },
      specFingerprint: "s1-x",
      nodes: { fingerprint: "n1-x", count: 0, source: { $case: "inline", value: { nodes: [] } } },
    });
  });

  test.each([
    { it: "no changes", parts: {}, planned: 0, want: { kind: "matches", loadBalancer: { id: "lb-1" } } },
    {
      it: "changes",
      parts: {},
      planned: 2,
      want: { kind: "differs", differences: ["update rule sg-1", "update rule sg-1"] },
    },
    {
      it: "a failure",
      parts: { phase: 5 },
      planned: 0,
      want: { kind: "differs", differences: ["its phase is failed"] },
    },
    { it: "work in progress", parts: { phase: 3 }, planned: 1, want: { kind: "changing" } },
    { it: "nothing", parts: undefined, planned: 1, want: { kind: "missing" } },
  ] as const)(
    "a check that finds $it is $want.kind, and is a dry run with the whole nodes (case S-12)",
    async ({ parts, planned, want }) => {
      const loadBalancers = { updateNodes: true, needsNodePorts: true, validateOnly: true };
      await world.start({
        getProviderInfo: () => providerInfo({ capabilities: { loadBalancers } }),
        ensureLoadBalancer: ({ service }) =>
          EnsureLoadBalancerResponse.fromPartial({
            ...(parts === undefined ? {} : { loadBalancer: { id: "lb-1", service, phase: 2, ...parts } }),
            plannedChanges: Array.from({ length: planned }, () => ({
              action: 2,
              resourceType: "rule",
              resourceId: "sg-1",
            })),
          }),
      });
      const { signal } = world.harness;
      expect(await world.sidecar.client.checkLoadBalancer(ensureInput(), { signal })).toMatchObject(want);
      expect(world.provider.callsOf("ensureLoadBalancer").map(({ request }) => request)).toMatchObject([
        { change: { validateOnly: true, trigger: "check" }, nodes: { source: { $case: "inline" } } },
      ]);
    },
  );

  test("a check is not sent to a provider that cannot compare without changing (case S-12)", async () => {
    await world.start();
    const { signal } = world.harness;
    expect(await world.sidecar.client.checkLoadBalancer(ensureInput(), { signal })).toEqual({ kind: "unsupported" });
    expect(world.provider.callsOf("ensureLoadBalancer")).toEqual([]);
  });

  test("an answer with operation, diagnostics and ingress comes back in Kubernetes' words", async () => {
    await world.start({
      ensureLoadBalancer: ({ service }) =>
        EnsureLoadBalancerResponse.fromPartial({
          loadBalancer: {
            id: "lb-1",
            service,
            phase: 1,
            ingress: { items: [{ ip: "203.0.113.7" }] },
            operation: { id: "op-1", pollAfter: { seconds: 900n } },
          },
          diagnostics: [{ severity: 2, reason: "AddressIgnored", summary: "loadBalancerIP was not honored" }],
        }),
    });
    const input = ensureInput();
    const nodes = { ...input.nodes, leftOut: ["node n2: zone has 64 bytes; at most 63 are allowed"] };
    const change = await world.sidecar.client.ensureLoadBalancer({ ...input, nodes }, { signal: world.harness.signal });
    expect(change).toMatchObject({
      loadBalancer: {
        id: "lb-1",
        phase: "provisioning",
        service: SERVICE,
        ingress: [{ ip: "203.0.113.7", hostname: "", ipMode: "VIP", ports: [] }],
        operation: { id: "op-1", pollAfterMs: 60_000 },
      },
      diagnostics: [
        { severity: "warning", reason: "NodesLeftOut", summary: expect.stringContaining(nodes.leftOut.join("")) },
        { severity: "warning", reason: "AddressIgnored" },
      ],
    });
  });

  test.each([
    ["no load balancer", EnsureLoadBalancerResponse.fromPartial({})],
    [
      "a load balancer of another owner",
      EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-2", service: { uid: "uid-2" } } }),
    ],
  ])("an answer with %s is not believed", async (_, response) => {
    await world.start({ ensureLoadBalancer: () => response });
    const ensured = world.sidecar.client.ensureLoadBalancer(ensureInput(), { signal: world.harness.signal });
    await expect(ensured).rejects.toMatchObject({ reason: "RESPONSE_INVALID", class: "OUTCOME_UNKNOWN" });
  });

  test.each([
    ["without outcome", GetLoadBalancerResponse.fromPartial({})],
    [
      "with an absence that rests on nothing",
      GetLoadBalancerResponse.fromPartial({ outcome: { $case: "absent", value: {} } }),
    ],
  ])("an answer %s is an error, never absent", async (_, response) => {
    await world.start({ getLoadBalancer: () => response });
    const got = world.sidecar.client.getLoadBalancer(
      { service: SERVICE, annotations: {} },
      { signal: world.harness.signal },
    );
    await expect(got).rejects.toMatchObject({ reason: "RESPONSE_INVALID" });
  });

  test("at most as many calls run at once as the provider allows; the rest wait their turn", async () => {
    const release: (() => void)[] = [];
    await world.start({
      getProviderInfo: () =>
        providerInfo({
          limits: { maxConcurrentCalls: 3, maxReceiveBytes: 4_194_304n },
          capabilities: { loadBalancers: { lockScope: LockScope.SERVICE, maxConcurrentChanges: 8 } },
        }),
      deleteLoadBalancer: () => new Promise((resolve) => release.push(() => resolve({ ...DELETED }))),
    });
    const deletions = Array.from({ length: 8 }, (_, index) => {
      const service = { ...SERVICE, name: `web-${index}` };
      return world.sidecar.client.deleteLoadBalancer({ service, annotations: {} }, { signal: world.harness.signal });
    });
    await eventually("three calls arrived", () => release.length === 3);
    for (let done = 0; done < 8; done++) {
      await eventually("the next call arrived", () => release.length > done);
      expect(world.provider.callsOf("deleteLoadBalancer").length - done).toBeLessThanOrEqual(3);
      release[done]?.();
    }
    expect(await Promise.all(deletions)).toHaveLength(8);
  });
});

describe("nodes that a load balancer has already", () => {
  const nodes = selectionOf([targetOf("n1", "acme://1")]);
  const ensure = (acknowledgedNodes: string) =>
    world.sidecar.client.ensureLoadBalancer(
      { ...ensureInput(), nodes, acknowledgedNodes },
      { signal: world.harness.signal, requestId: "change-1" },
    );

  test("are not sent again", async () => {
    await world.start();
    await ensure(nodes.fingerprint);
    await ensure("n1-other");
    expect(world.provider.callsOf("ensureLoadBalancer").map(({ request }) => request)).toMatchObject([
      { nodes: { fingerprint: nodes.fingerprint, count: 1, source: { $case: "unchanged" } } },
      { nodes: { fingerprint: nodes.fingerprint, count: 1, source: { $case: "inline" } } },
    ]);
  });

  test("are sent whole, as another call, when the provider does not know them any more", async () => {
    const seen: EnsureLoadBalancerRequest[] = [];
    await world.start({
      ensureLoadBalancer: (request) => {
        seen.push(request);
        if (request.nodes?.source?.$case === "unchanged") throw contractFailure("NODES_FINGERPRINT_MISMATCH", "new");
        return EnsureLoadBalancerResponse.fromPartial({
          loadBalancer: { id: "lb-1", service: request.service, phase: 2 },
        });
      },
    });
    expect(await ensure(nodes.fingerprint)).toMatchObject({ loadBalancer: { id: "lb-1" } });
    expect(seen.map((request) => request.nodes?.source?.$case)).toEqual(["unchanged", "inline"]);
    const ids = seen.map(({ change }) => change?.requestId);
    expect([ids[0], new Set(ids).size]).toEqual(["change-1", 2]);
  });
});

describe("nodes that are too many to be sent whole", () => {
  const nodes = selectionOf(Array.from({ length: 200 }, (_, index) => targetOf(`n${index}`, `acme://${index}`)));
  const declared = () =>
    providerInfo({
      limits: { maxConcurrentCalls: 16, maxReceiveBytes: 4_194_304n, maxInlineNodes: 150 },
      capabilities: {
        loadBalancers: { updateNodes: true, needsNodePorts: true, nodeSets: { maxSets: 1, maxNodes: 5000 } },
      },
    });
  const update = () =>
    world.sidecar.client.updateLoadBalancerNodes(
      { service: SERVICE, annotations: {}, nodes },
      { signal: world.harness.signal },
    );

  test("are uploaded once for all changes that find the set unknown, as after a restart", async () => {
    const held = new Set<string>();
    await world.start({
      getProviderInfo: declared,
      applyNodeSet: ({ targetFingerprint: fingerprint, targetCount: count }) => {
        held.add(fingerprint);
        return ApplyNodeSetResponse.fromPartial({ fingerprint, count, committed: true });
      },
      updateLoadBalancerNodes: ({ service, nodes: sent }) => {
        if (!held.has(sent?.fingerprint ?? "")) throw contractFailure("NODE_SET_UNKNOWN", "new");
        return UpdateLoadBalancerNodesResponse.fromPartial({ loadBalancer: { id: "lb-1", service, phase: 2 } });
      },
    });
    await update();
    held.clear();
    expect(await Promise.all([update(), update(), update()])).toHaveLength(3);
  });

  test("fail as the set did while the provider keeps none, for that passes", async () => {
    await world.start({
      getProviderInfo: declared,
      updateLoadBalancerNodes: () => {
        throw contractFailure("NODE_SET_UNKNOWN", "new");
      },
    });
    await expect(update()).rejects.toMatchObject({ reason: "NODE_SET_UNKNOWN", class: "RESYNC" });
  });
});

const DELETED = {
  done: true,
  operation: undefined,
  remaining: [],
  diagnostics: [],
  plannedChanges: [],
  stats: undefined,
};
