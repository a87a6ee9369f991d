import { NodeAddressType, type NodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  type BatchGetInstancesRequest,
  BatchGetInstancesResponse,
  ListInstancesResponse,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import {
  type EnsureLoadBalancerRequest,
  EnsureLoadBalancerResponse,
  GetLoadBalancerResponse,
  LoadBalancerSpec,
  TargetNode,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { node } from "../../test/support/builders.ts";
import { eventually } from "../../test/support/poll.ts";
import { type HarnessOptions, ProviderHarness } from "../../test/support/provider-harness.ts";
import {
  contractFailure,
  instancesFor,
  providerInfo,
  providerStatus,
  ScriptedProvider,
  StatusFailure,
} from "../../test/support/scripted-provider.ts";
import type { EnsureLoadBalancerInput, ReadOptions } from "./client.ts";
import { nodeSelection } from "./convert/fingerprint.ts";
import { nodeRef } from "./convert/node.ts";
import type { Sidecar } from "./provider.ts";

const NOTHING_DECLARED = { nodeLabelKeys: [], nodeAnnotationKeys: [] };
const SERVICE = { namespace: "default", name: "web", uid: "uid-1" };

let harness: ProviderHarness;
let provider: ScriptedProvider;
let sidecar: Sidecar;

beforeEach(async () => {
  harness = await ProviderHarness.create();
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function start(
  script: Parameters<typeof ScriptedProvider.start>[1] = {},
  options: HarnessOptions = {},
): Promise<void> {
  provider = await ScriptedProvider.start(harness.socketPath, script);
  sidecar = harness.connect(options);
  await harness.ready(sidecar);
}

function read(options: Partial<ReadOptions> = {}): ReadOptions {
  return { signal: harness.signal, maxDataAgeMs: 30_000, ...options };
}

function refs(count: number): readonly NodeRef[] {
  return Array.from({ length: count }, (_, index) => {
    const spec = { providerID: `acme://i-${index}` };
    return nodeRef(node(`n${index}`, { spec }), NOTHING_DECLARED);
  });
}

function ensureInput(): EnsureLoadBalancerInput {
  const nodes = { fingerprint: "n1-x", count: 0, source: { kind: "inline" as const, nodes: [] } };
  return { service: SERVICE, spec: LoadBalancerSpec.fromPartial({}), specFingerprint: "s1-x", nodes };
}

const absentAll = (request: BatchGetInstancesRequest): BatchGetInstancesResponse =>
  BatchGetInstancesResponse.fromPartial({
    results: request.nodes.map(() => ({
      outcome: { $case: "absent", value: { basis: 1, observeTime: new Date(), stronglyConsistent: true } },
    })),
    scopeId: "project-1",
  });

describe("getInstances()", () => {
  test("splits 1,000 nodes into calls of the declared size and answers in order", async () => {
    await start();
    const answers = await sidecar.client.getInstances(refs(1000), read());
    expect(answers.map((answer) => answer.kind === "present" && answer.instance.providerId)).toEqual(
      refs(1000).map(({ providerId }) => providerId),
    );
    const calls = provider.callsOf("batchGetInstances");
    expect(calls).toHaveLength(5);
    expect(calls[0]?.request).toMatchObject({
      context: { cluster: { id: "cluster-1", name: "test" }, scopeId: "project-1" },
      maxDataAge: { seconds: 30n, nanos: 0 },
    });
  });

  test("carries ids and the contract's deadline", async () => {
    await start();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await sidecar.client.getInstances(refs(1), read({ traceparent }));
    const [call] = provider.callsOf("batchGetInstances");
    expect(call?.metadata.get("traceparent")).toEqual([traceparent]);
    expect(call?.metadata.get("x-controller-version")).toEqual(["0.0.0-test"]);
    expect(String(call?.metadata.get("x-request-id")[0])).toMatch(/^[0-9a-f-]{36}$/);
    expect(call?.timeoutMs).toBeGreaterThan(29_000);
    expect(call?.timeoutMs).toBeLessThanOrEqual(30_000);
  });

  test.each([
    ["too few results", (request: BatchGetInstancesRequest) => ({ ...instancesFor(request), results: [] })],
    [
      "a result too many",
      (request: BatchGetInstancesRequest) => {
        const answer = instancesFor(request);
        return { ...answer, results: [...answer.results, ...answer.results] };
      },
    ],
    [
      "results in the wrong order",
      (request: BatchGetInstancesRequest) => {
        const answer = instancesFor(request);
        return { ...answer, results: answer.results.toReversed() };
      },
    ],
    [
      "absences for fewer nodes than asked",
      (request: BatchGetInstancesRequest) => ({ ...absentAll(request), results: absentAll(request).results.slice(1) }),
    ],
  ])("believes nothing of an answer with %s", async (_, answer) => {
    await start({ batchGetInstances: answer });
    const answers = await sidecar.client.getInstances(refs(3), read());
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ kind: "unknown", error: expect.objectContaining({ reason: "INVARIANT_BROKEN" }) }),
      ),
    );
  });

  test("believes nothing that was read in another scope than the handshake's", async () => {
    await start({ batchGetInstances: (request) => ({ ...absentAll(request), scopeId: "project-2" }) });
    const answers = await sidecar.client.getInstances(refs(1), read());
    expect(answers).toMatchObject([{ kind: "unknown", error: { reason: "SCOPE_MISMATCH", class: "OPERATOR" } }]);
  });

  test("answers unknown for each node when the call fails", async () => {
    await start({
      batchGetInstances: () => {
        throw contractFailure("CLOUD_PERMISSION_DENIED", "may not list machines");
      },
    });
    const answers = await sidecar.client.getInstances(refs(2), read());
    expect(answers).toMatchObject([
      { kind: "unknown", error: { code: "PERMISSION_DENIED", class: "OPERATOR" } },
      { kind: "unknown", error: { code: "PERMISSION_DENIED", class: "OPERATOR" } },
    ]);
    expect(provider.callsOf("batchGetInstances")).toHaveLength(1);
  });

  test("keeps a node back that is over the contract's limits, and asks for the others", async () => {
    await start();
    const [good, other] = refs(2);
    const long = { ...other, name: "n1", providerId: `acme://${"x".repeat(1024)}` };
    const empty = { ...other, name: "n2", addresses: [{ type: NodeAddressType.INTERNAL_IP, address: "" }] };
    const answers = await sidecar.client.getInstances(
      [long, empty, good].flatMap((ref) => withDefaults(ref)),
      read(),
    );
    expect(answers).toMatchObject([
      { kind: "unknown", error: { reason: "FIELD_TOO_LARGE", message: expect.stringContaining("provider_id") } },
      { kind: "unknown", error: { reason: "FIELD_MISSING", message: expect.stringContaining("addresses[0].address") } },
      { kind: "present", instance: { providerId: "acme://i-0" } },
    ]);
  });

  test("halves a batch that is too large for somebody on the way", async () => {
    await start({
      batchGetInstances: (request) => {
        if (request.nodes.length > 2) throw new StatusFailure(8, "Received message larger than max");
        return instancesFor(request);
      },
    });
    const answers = await sidecar.client.getInstances(refs(8), read());
    expect(answers.map(({ kind }) => kind)).toEqual(Array.from({ length: 8 }, () => "present"));
    expect(provider.callsOf("batchGetInstances")).toHaveLength(7);
  });

  test("tries a read again while the provider is unavailable, three times in all", async () => {
    let failures = 2;
    await start({
      batchGetInstances: (request) => {
        if (failures-- > 0) throw contractFailure("CLOUD_UNAVAILABLE", "cloud is down");
        return instancesFor(request);
      },
    });
    expect(await sidecar.client.getInstances(refs(1), read())).toMatchObject([{ kind: "present" }]);
    failures = 99;
    expect(await sidecar.client.getInstances(refs(1), read())).toMatchObject([
      { kind: "unknown", error: { reason: "CLOUD_UNAVAILABLE", class: "TRANSIENT" } },
    ]);
    expect(provider.callsOf("batchGetInstances")).toHaveLength(6);
  });

  test("gives up when the caller does", async () => {
    await start({ batchGetInstances: () => new Promise(() => undefined) });
    const caller = new AbortController();
    const asked = sidecar.client.getInstances(refs(1), read({ signal: caller.signal }));
    await eventually("the call arrived", () => provider.callsOf("batchGetInstances").length === 1);
    caller.abort(new Error("no longer wanted"));
    expect(await asked).toMatchObject([{ kind: "unknown", error: { code: "CANCELLED" } }]);
  });

  test("holds every call of the group while the cloud throttles, and tells how long", async () => {
    let throttled = true;
    await start({
      batchGetInstances: (request) => {
        if (throttled) throw contractFailure("RATE_LIMITED", "slow down", 20_000);
        return instancesFor(request);
      },
    });
    expect(await sidecar.client.getInstances(refs(1), read())).toMatchObject([
      { kind: "unknown", error: { reason: "RATE_LIMITED", retryAfterMs: 20_000 } },
    ]);
    throttled = false;
    const [held] = await sidecar.client.getInstances(refs(1), read());
    expect(held).toMatchObject({ kind: "unknown", error: { reason: "RATE_LIMITED", class: "WAIT" } });
    expect(provider.callsOf("batchGetInstances")).toHaveLength(1);
    expect(await sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, read())).toMatchObject({
      done: true,
    });
  });
});

describe("calls about load balancers", () => {
  test("a change carries its id, is sent once, and fails at once when the provider is unavailable", async () => {
    await start({
      ensureLoadBalancer: () => {
        throw contractFailure("CLOUD_UNAVAILABLE", "cloud is down");
      },
    });
    const ensured = sidecar.client.ensureLoadBalancer(ensureInput(), {
      signal: harness.signal,
      requestId: "change-1",
      trigger: "service created",
    });
    await expect(ensured).rejects.toMatchObject({
      name: "ProviderError",
      reason: "CLOUD_UNAVAILABLE",
      requestId: "change-1",
    });
    const calls = provider.callsOf("ensureLoadBalancer");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.metadata.get("x-request-id")).toEqual(["change-1"]);
    expect(calls[0]?.request).toMatchObject({
      change: { requestId: "change-1", validateOnly: false, trigger: "service created" },
      service: { uid: "uid-1" },
      specFingerprint: "s1-x",
      nodes: { fingerprint: "n1-x", count: 0, source: { $case: "inline", value: { nodes: [] } } },
    });
  });

  test("an answer with operation, diagnostics and ingress comes back in Kubernetes' words", async () => {
    await start({
      ensureLoadBalancer: ({ service }) =>
        EnsureLoadBalancerResponse.fromPartial({
          loadBalancer: {
            id: "lb-1",
            service,
            phase: 1,
            ingress: { items: [{ ip: "203.0.113.7" }] },
            operation: { id: "op-1", pollAfter: { seconds: 900n } },
          },
          diagnostics: [{ severity: 2, reason: "AddressIgnored", summary: "loadBalancerIP was not honoured" }],
        }),
    });
    const input = ensureInput();
    const nodes = { ...input.nodes, leftOut: ["node n2: zone: 64 bytes, 63 allowed"] };
    const change = await sidecar.client.ensureLoadBalancer({ ...input, nodes }, { signal: harness.signal });
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
      "somebody else's load balancer",
      EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-2", service: { uid: "uid-2" } } }),
    ],
  ])("an answer with %s is not believed", async (_, response) => {
    await start({ ensureLoadBalancer: () => response });
    const ensured = sidecar.client.ensureLoadBalancer(ensureInput(), { signal: harness.signal });
    await expect(ensured).rejects.toMatchObject({ reason: "INVARIANT_BROKEN", class: "OUTCOME_UNKNOWN" });
  });

  test.each([
    ["without outcome", GetLoadBalancerResponse.fromPartial({})],
    [
      "with an absence that rests on nothing",
      GetLoadBalancerResponse.fromPartial({ outcome: { $case: "absent", value: {} } }),
    ],
  ])("an answer %s is an error, never absent", async (_, response) => {
    await start({ getLoadBalancer: () => response });
    const got = sidecar.client.getLoadBalancer({ service: SERVICE, annotations: {} }, { signal: harness.signal });
    await expect(got).rejects.toMatchObject({ reason: "INVARIANT_BROKEN" });
  });

  test("at most as many calls run at once as the provider allows; the rest wait their turn", async () => {
    const release: (() => void)[] = [];
    await start({
      getProviderInfo: () => providerInfo({ limits: { maxConcurrentCalls: 3, maxReceiveBytes: 4_194_304n } }),
      deleteLoadBalancer: () => new Promise((resolve) => release.push(() => resolve({ ...DELETED }))),
    });
    const deletions = Array.from({ length: 8 }, () =>
      sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, { signal: harness.signal }),
    );
    await eventually("three calls arrived", () => release.length === 3);
    for (let done = 0; done < 8; done++) {
      await eventually("the next call arrived", () => release.length > done);
      expect(provider.callsOf("deleteLoadBalancer").length - done).toBeLessThanOrEqual(3);
      release[done]?.();
    }
    expect(await Promise.all(deletions)).toHaveLength(8);
  });
});

describe("nodes that a load balancer has already", () => {
  const nodes = nodeSelection([TargetNode.fromPartial({ name: "n1", providerId: "acme://1" })]);
  const ensure = (acknowledgedNodes: string) =>
    sidecar.client.ensureLoadBalancer(
      { ...ensureInput(), nodes, acknowledgedNodes },
      { signal: harness.signal, requestId: "change-1" },
    );

  test("are not sent again", async () => {
    await start();
    await ensure(nodes.fingerprint);
    await ensure("n1-other");
    expect(provider.callsOf("ensureLoadBalancer").map(({ request }) => request)).toMatchObject([
      { nodes: { fingerprint: nodes.fingerprint, count: 1, source: { $case: "unchanged" } } },
      { nodes: { fingerprint: nodes.fingerprint, count: 1, source: { $case: "inline" } } },
    ]);
  });

  test("are sent whole, as another call, when the provider does not know them any more", async () => {
    const seen: EnsureLoadBalancerRequest[] = [];
    await start({
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

describe("limits of the provider", () => {
  const target = (index: number) => TargetNode.fromPartial({ name: `n${index}`, providerId: `acme://${index}` });
  const withNodes = (count: number): EnsureLoadBalancerInput => ({
    ...ensureInput(),
    nodes: nodeSelection(Array.from({ length: count }, (_, index) => target(index))),
  });

  test("too many nodes are refused here, with what to do", async () => {
    const limits = { maxConcurrentCalls: 16, maxReceiveBytes: 4_194_304n, maxInlineNodes: 2 };
    await start({ getProviderInfo: () => providerInfo({ limits }) });
    const { nodes } = withNodes(3);
    const signal = harness.signal;
    const refused = {
      reason: "FIELD_TOO_LARGE",
      message: expect.stringMatching(/3 nodes.*at most 2.*max_inline_nodes/),
    };
    const calls = [
      sidecar.client.ensureLoadBalancer(withNodes(3), { signal }),
      sidecar.client.updateLoadBalancerNodes({ service: SERVICE, annotations: {}, nodes }, { signal }),
    ];
    expect(await Promise.allSettled(calls)).toMatchObject([{ reason: refused }, { reason: refused }]);
    await sidecar.client.ensureLoadBalancer(withNodes(2), { signal });
    expect(provider.callsOf("ensureLoadBalancer")).toHaveLength(1);
  });

  test("a change larger than the provider takes is refused here, with what to do", async () => {
    const limits = { maxConcurrentCalls: 16, maxReceiveBytes: 1000n };
    await start({ getProviderInfo: () => providerInfo({ limits }) });
    await expect(sidecar.client.ensureLoadBalancer(withNodes(100), { signal: harness.signal })).rejects.toMatchObject({
      reason: "FIELD_TOO_LARGE",
      message: expect.stringMatching(/EnsureLoadBalancer.*bytes.*at most 1000.*max_receive_bytes/),
    });
    expect(provider.callsOf("ensureLoadBalancer")).toHaveLength(0);
  });
});

describe("scope", () => {
  test("a provider in another scope than before changes nothing and is believed no absence, until it is back", async () => {
    await start(
      { batchGetInstances: (request) => ({ ...absentAll(request), scopeId: "project-2" }) },
      {
        timing: { statusReadyMs: 20, statusNotReadyMs: 20 },
      },
    );
    provider.script.getProviderInfo = () => providerInfo({ scopeId: "project-2", bootId: "boot-2" });
    provider.script.getProviderStatus = () => providerStatus({ scopeId: "project-2", bootId: "boot-2" });
    await eventually("the new scope is known", () => sidecar.scopeChange !== undefined && sidecar.health.ready);
    expect(sidecar.scopeChange).toEqual({ confirmed: "project-1", current: "project-2" });
    expect(sidecar.health.reasons).toMatchObject([{ name: "ScopeChanged" }]);
    const deleted = sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, read());
    await expect(deleted).rejects.toMatchObject({ reason: "SCOPE_MISMATCH", class: "OPERATOR" });
    expect(provider.callsOf("deleteLoadBalancer")).toHaveLength(0);
    expect(await sidecar.client.getInstances(refs(1), read())).toMatchObject([
      { kind: "unknown", error: { reason: "SCOPE_MISMATCH" } },
    ]);
    expect(sidecar.health.reasons[0]?.message).toContain("a restart of the controller confirms");
    provider.script.getProviderInfo = () => providerInfo({ bootId: "boot-3" });
    provider.script.getProviderStatus = () => providerStatus({ bootId: "boot-3" });
    provider.script.batchGetInstances = absentAll;
    await eventually("the first scope is back", () => sidecar.scopeChange === undefined && sidecar.health.ready);
    expect(await sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, read())).toMatchObject({
      done: true,
    });
    expect(await sidecar.client.getInstances(refs(1), read())).toMatchObject([{ kind: "absent" }]);
  });
});

describe("without connection", () => {
  test("a change waits for a provider that is being restarted instead of failing", async () => {
    await start();
    await provider[Symbol.asyncDispose]();
    await eventually("the loss is noticed", () => !sidecar.health.ready);
    const deleted = sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, read());
    provider = await ScriptedProvider.start(harness.socketPath);
    expect(await deleted).toMatchObject({ done: true });
  });

  test("a call fails at once, saying why there is no connection", async () => {
    await start();
    await provider[Symbol.asyncDispose]();
    await eventually("the provider is given up for now", () => sidecar.health.reasons[0]?.name === "SocketMissing");
    const deleted = sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, read());
    await expect(deleted).rejects.toMatchObject({
      code: "UNAVAILABLE",
      class: "TRANSIENT",
      message: expect.stringContaining(`${harness.socketPath} does not exist`),
    });
  });

  test("a call of a group that the provider does not serve is refused here", async () => {
    await start();
    await expect(sidecar.client.listRoutes({ signal: harness.signal })).rejects.toMatchObject({
      reason: "CAPABILITY_ABSENT",
      class: "FINAL",
    });
  });
});

describe("listInstances()", () => {
  const page = (token: string, nextPageToken: string, parts = {}): ListInstancesResponse =>
    ListInstancesResponse.fromPartial({
      instances: [{ providerId: `acme://${token === "" ? "first" : token}`, name: "n" }],
      nextPageToken,
      scopeId: "project-1",
      complete: nextPageToken === "",
      ...parts,
    });

  test("walks all pages and begins anew, once, when a token is refused", async () => {
    let refused = false;
    await start({
      listInstances: ({ pageToken }) => {
        if (pageToken === "b" && !refused) {
          refused = true;
          throw contractFailure("PAGE_TOKEN_INVALID", "expired");
        }
        return page(pageToken, { "": "a", a: "b" }[pageToken] ?? "");
      },
    });
    const { items, complete } = await sidecar.client.listInstances({ signal: harness.signal });
    expect(items.map(({ providerId }) => providerId)).toEqual(["acme://first", "acme://a", "acme://b"]);
    expect(complete).toBe(true);
    expect(provider.callsOf("listInstances")).toHaveLength(6);
  });

  test("is not complete when a zone could not be read on any page", async () => {
    await start({
      listInstances: ({ pageToken }) =>
        pageToken === "" ? page("", "a", { unreachable: ["zone-b"] }) : page("a", "", { complete: true }),
    });
    expect(await sidecar.client.listInstances({ signal: harness.signal })).toMatchObject({
      complete: false,
      unreachable: ["zone-b"],
    });
  });

  test("fails when pages go in a circle", async () => {
    await start({ listInstances: ({ pageToken }) => page(pageToken, "a") });
    await expect(sidecar.client.listInstances({ signal: harness.signal })).rejects.toMatchObject({
      reason: "INCOMPLETE_ANSWER",
    });
  });
});

test("calls are measured by method, code and reason, and what they cost at the cloud", async () => {
  await start({
    batchGetInstances: (request) =>
      instancesFor(request, { stats: { cloudCalls: 4, cloudRetries: 1, throttled: true, dataAge: { seconds: 2n } } }),
    deleteLoadBalancer: () => {
      throw contractFailure("DELETION_PROTECTED", "protected");
    },
  });
  await sidecar.client.getInstances(refs(1), read());
  await sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, read()).catch(() => undefined);
  const text = await harness.metrics.text();
  expect(text).toContain(
    'provider_call_duration_seconds_count{provider="acme",method="BatchGetInstances",code="OK",reason=""} 1',
  );
  expect(text).toContain(
    'provider_call_duration_seconds_count{provider="acme",method="DeleteLoadBalancer",code="FAILED_PRECONDITION",reason="DELETION_PROTECTED"} 1',
  );
  expect(text).toContain('cloud_calls_total{provider="acme",method="BatchGetInstances",kind="read"} 3');
  expect(text).toContain('cloud_calls_total{provider="acme",method="BatchGetInstances",kind="retry"} 1');
  expect(text).toContain('cloud_throttled_total{provider="acme",method="BatchGetInstances"} 1');
  expect(text).toContain('cloud_data_age_seconds_sum{provider="acme",method="BatchGetInstances"} 2');
  expect(text).toContain('provider_calls_in_flight{provider="acme"} 0');
});

const DELETED = {
  done: true,
  operation: undefined,
  remaining: [],
  diagnostics: [],
  plannedChanges: [],
  stats: undefined,
};

function withDefaults(ref: Partial<NodeRef> | undefined): readonly NodeRef[] {
  const [base] = refs(1);
  return base === undefined ? [] : [{ ...base, ...ref }];
}
