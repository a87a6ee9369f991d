import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { ChangeContext } from "../definition/call-context.ts";
import type {
  GetLoadBalancer,
  ListLoadBalancers,
  LoadBalancer,
  LoadBalancerHandlers,
  WantedLoadBalancer,
} from "../definition/load-balancers.ts";
import { absent, type Pending, pending, unreachable } from "../definition/outcomes.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { invoke, invokeOk } from "../testing/invoke.ts";
import { basics, context, eventually, serveForTest } from "../testing/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

const active = ({ key }: { readonly key: string }): LoadBalancer => ({ id: key, ingress: [{ ip: "192.0.2.1" }] });

const handlers = {
  get: () => absent("LOOKUP_MISS"),
  ensure: active,
  delete: () => undefined,
} satisfies LoadBalancerHandlers;

type WithGet = Extract<LoadBalancerHandlers, { readonly get: GetLoadBalancer }>;

const served = (loadBalancers: Partial<WithGet> = {}) =>
  serveForTest({ ...basics, loadBalancers: { ...handlers, ...loadBalancers } });

const service = { namespace: "default", name: "web", uid: "uid-1" };
const target = (index: number) => ({
  name: `n${index}`,
  providerId: `acme://i-${index}`,
  addresses: [{ type: 1 as const, address: `10.0.0.${index}` }],
});
const inline = (fingerprint: string, ...indexes: readonly number[]) => ({
  fingerprint,
  count: indexes.length,
  source: { $case: "inline" as const, value: { nodes: indexes.map(target) } },
});

let changes = 0;
const change = (requestId = `r-${++changes}`) => ({ requestId });

const ensureRequest = {
  context,
  service,
  spec: { ports: [{ protocol: 1 as const, port: 80, nodePort: 30_080 }] },
  specFingerprint: "spec-1",
  nodes: inline("nodes-1", 1, 2),
};

describe("EnsureLoadBalancer", () => {
  test("gives the provider the whole wish, and puts the fingerprints in force that were sent", async () => {
    const wishes: WantedLoadBalancer[] = [];
    const { client } = await served({
      ensure: (wanted) => {
        wishes.push(wanted);
        return active(wanted);
      },
    });
    const { loadBalancer } = await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.ACTIVE,
      service: { uid: "uid-1" },
      specFingerprint: "spec-1",
      nodesFingerprint: "nodes-1",
      operation: undefined,
    });
    expect(wishes).toEqual([
      {
        key: expect.stringMatching(/^k8s-[0-9a-f]{28}$/),
        cluster: { id: "cluster-1", name: "test" },
        service: { namespace: "default", name: "web", uid: "uid-1" },
        annotations: {},
        ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
        ipFamilies: ["IPv4"],
        sourceRanges: [],
        externalTrafficPolicy: "Cluster",
        requestedIps: [],
        tags: {},
        nodes: [1, 2].map((index) => ({
          name: `n${index}`,
          providerId: `acme://i-${index}`,
          id: `i-${index}`,
          ip: `10.0.0.${index}`,
          addresses: [{ type: "InternalIP", address: `10.0.0.${index}` }],
          labels: {},
        })),
        nodesFingerprint: "nodes-1",
        specFingerprint: "spec-1",
      },
    ]);
  });

  test("answers pending work as an operation, without fingerprints in force", async () => {
    const { client } = await served({ ensure: ({ key }) => pending(key, { pollAfterMs: 1_500, stage: "booting" }) });
    const { loadBalancer } = await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.PROVISIONING,
      specFingerprint: "",
      nodesFingerprint: "",
      operation: { stage: "booting", pollAfter: { seconds: 1n, nanos: 500_000_000 } },
    });
  });

  test("passes on diagnostics, costs and planned changes", async () => {
    const { client } = await served({
      features: { validateOnly: true },
      ensure: (_wanted, changing) => {
        changing.plan({ action: "create", resourceType: "load balancer" });
        changing.diagnose({ reason: "IdleTimeoutIgnored", summary: "The idle timeout is fixed" });
        changing.recordCloudCall({ status: 200, requestId: "req-1" });
        return undefined;
      },
    });
    const answer = await invokeOk(client, methods.ensureLoadBalancer, {
      ...ensureRequest,
      change: { requestId: "r-dry", validateOnly: true },
    });
    expect(answer).toMatchObject({
      loadBalancer: undefined,
      diagnostics: [{ severity: 2, reason: "IdleTimeoutIgnored" }],
      plannedChanges: [{ action: 1, resourceType: "load balancer" }],
      stats: { cloudCalls: 1, cloudRequestIds: ["req-1"] },
    });
  });

  test("refuses a dry run that the provider does not offer, before its code runs", async () => {
    let called = 0;
    const { client } = await served({
      ensure: (wanted) => {
        called += 1;
        return active(wanted);
      },
    });
    const outcome = await invoke(client, methods.ensureLoadBalancer, {
      ...ensureRequest,
      change: { requestId: "r-dry", validateOnly: true },
    });
    expect(outcome).toMatchObject({ code: grpc.UNIMPLEMENTED, reason: "VALIDATE_ONLY_UNSUPPORTED" });
    expect(called).toBe(0);
  });

  test("reports everything that is wrong with a wish, with field paths", async () => {
    const { client } = await served();
    const outcome = await invoke(client, methods.ensureLoadBalancer, {
      ...ensureRequest,
      change: change(),
      specFingerprint: "",
      spec: {
        class: "other",
        ports: [
          { protocol: 1 as const, port: 80 },
          { protocol: 1 as const, port: 80 },
          { protocol: 3 as const, port: 99_999 },
        ],
        sourceRanges: { cidrs: ["10.0.0.0/33"] },
      },
      nodes: { fingerprint: "nodes-1", count: 0 },
    });
    expect(outcome).toMatchObject({ code: grpc.INVALID_ARGUMENT, details: ["ErrorInfo", "BadRequest"] });
    expect(outcome.kind === "error" && outcome.fields.toSorted()).toEqual([
      "nodes.source",
      "spec.class",
      "spec.ports",
      "spec.ports[1]",
      "spec.ports[2].port",
      "spec.ports[2].protocol",
      "spec.source_ranges",
      "spec.source_ranges.cidrs[0]",
      "spec_fingerprint",
    ]);
  });

  test("calls a reason that is not Ensure's an invariant broken, with its text", async () => {
    const { client } = await served({
      ensure: () => {
        throw new ProviderError("CIDR_CONFLICT", "no such thing here");
      },
    });
    const outcome = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(outcome).toMatchObject({
      reason: "INVARIANT_BROKEN",
      message: "CIDR_CONFLICT is no reason of EnsureLoadBalancer: no such thing here",
    });
  });

  test("calls an answer that breaks the contract an invariant broken, with the path", async () => {
    const { client } = await served({ ensure: () => ({ id: "lb-1", ingress: [{ ip: "not an address" }] }) });
    const outcome = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(outcome).toMatchObject({
      code: grpc.INTERNAL,
      reason: "INVARIANT_BROKEN",
      message: expect.stringContaining("ingress.items[0].ip"),
    });
  });

  test("refuses changes that were overtaken on their way, a deletion too, and after one", async () => {
    const { client } = await served();
    const as = (sequence: bigint) => ({ ...change(), sequence });
    const ensure = (sequence: bigint) =>
      invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: as(sequence) });
    const remove = (sequence: bigint) =>
      invoke(client, methods.deleteLoadBalancer, { context, service, change: as(sequence) });
    const stale = { code: grpc.ABORTED, reason: "STALE_GENERATION" };
    expect((await ensure(5n)).kind).toBe("ok");
    expect(await ensure(4n)).toMatchObject(stale);
    expect(await remove(4n)).toMatchObject(stale);
    expect((await ensure(0n)).kind).toBe("ok");
    expect((await remove(6n)).kind).toBe("ok");
    expect(await ensure(5n)).toMatchObject(stale);
    expect((await ensure(7n)).kind).toBe("ok");
  });
});

/** Sends bytes as they are. */
const rawCodec = {
  fromPartial: (value: Buffer) => value,
  encode: (value: Buffer) => ({ finish: () => value }),
};

describe("a wish that is not understood", () => {
  test("is refused rather than carried out as another", async () => {
    const { client } = await served();
    const { requestType } = methods.ensureLoadBalancer;
    const request = requestType.fromPartial({ ...ensureRequest, change: change() });
    // Field 4 (spec), 2 bytes: field 5 (external_traffic_policy) is 77. Messages given twice are merged.
    const bytes = Buffer.concat([requestType.encode(request).finish(), Buffer.from([0x22, 0x02, 0x28, 77])]);
    const outcome = await invoke(client, { ...methods.ensureLoadBalancer, requestType: rawCodec }, bytes);
    expect(outcome).toMatchObject({
      reason: "FIELD_INVALID",
      fields: expect.arrayContaining(["spec.external_traffic_policy"]),
    });
  });
});

/** A handler that counts its runs and ends when it is told. */
const held = () => {
  const release = Promise.withResolvers<void>();
  const runs: string[] = [];
  const ensure = async (wanted: WantedLoadBalancer, { changeId }: ChangeContext): Promise<LoadBalancer | Pending> => {
    runs.push(changeId);
    await release.promise;
    return active(wanted);
  };
  return { ensure, runs, release: () => release.resolve() };
};

describe("changes of one load balancer", () => {
  test("join the same change, let one wait and turn a third away", async () => {
    const { ensure, runs, release } = held();
    const { client } = await served({ ensure });
    const ask = (requestId: string) =>
      invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: { requestId } });
    const first = ask("a");
    await eventually(() => runs.length === 1);
    const again = ask("a");
    const waiting = ask("b");
    await eventually(async () => (await ask("c")).kind === "error");
    expect(await ask("c")).toMatchObject({ code: grpc.ABORTED, reason: "OPERATION_IN_PROGRESS", retryAfterMs: 2_000 });
    release();
    expect((await Promise.all([first, again, waiting])).map(({ kind }) => kind)).toEqual(["ok", "ok", "ok"]);
    expect(runs).toEqual(["a", "b"]);
  });

  test("do not hold up those of another", async () => {
    const { ensure, runs, release } = held();
    const { client } = await served({
      ensure: (wanted, ctx) => (wanted.service.uid === "uid-1" ? ensure(wanted, ctx) : active(wanted)),
    });
    const first = invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    await eventually(() => runs.length === 1);
    const other = { ...ensureRequest, change: change(), service: { ...service, uid: "uid-2" } };
    expect((await invoke(client, methods.ensureLoadBalancer, other)).kind).toBe("ok");
    release();
    expect((await first).kind).toBe("ok");
  });

  test("answer a repetition of a finished change from memory, and ask again for one that goes on", async () => {
    let runs = 0;
    const { client } = await served({
      ensure: (wanted) => {
        runs += 1;
        return runs === 1 ? pending("lb-1") : active(wanted);
      },
    });
    const ask = () => invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: { requestId: "same" } });
    expect((await ask()).loadBalancer?.operation).toBeDefined();
    const second = await ask();
    expect(second.loadBalancer?.operation).toBeUndefined();
    expect(await ask()).toEqual(second);
    expect(runs).toBe(2);
  });

  test("keep the key while an abandoned handler still works", async () => {
    const { ensure, runs, release } = held();
    const { client } = await served({ ensure });
    const ask = (requestId: string, deadlineMs?: number) =>
      invoke(
        client,
        methods.ensureLoadBalancer,
        { ...ensureRequest, change: { requestId } },
        deadlineMs ? { deadlineMs } : {},
      );
    expect(await ask("a", 50)).toMatchObject({ code: grpc.DEADLINE_EXCEEDED });
    const second = ask("b");
    expect(runs).toEqual(["a"]);
    release();
    expect((await second).kind).toBe("ok");
    expect(runs).toEqual(["a", "b"]);
  });
});

describe("nodes of a load balancer", () => {
  const upload = (fingerprint: string, indexes: readonly number[], base = "") => ({
    context,
    nodeSetId: "all",
    baseFingerprint: base,
    targetFingerprint: fingerprint,
    chunkIndex: 0,
    chunkCount: 1,
    upserts: indexes.map(target),
    targetCount: indexes.length,
  });
  const fromSet = (fingerprint: string, count: number) => ({
    fingerprint,
    count,
    source: { $case: "nodeSetId" as const, value: "all" },
  });
  const unchanged = (fingerprint: string, count: number) => ({
    fingerprint,
    count,
    source: { $case: "unchanged" as const, value: {} },
  });
  const recording = () => {
    const seen: { readonly names: readonly string[]; readonly diff: unknown }[] = [];
    const ensure = (wanted: WantedLoadBalancer): LoadBalancer => {
      const { nodesDiff } = wanted;
      const names = (nodes: readonly { readonly name: string }[]) => nodes.map(({ name }) => name);
      seen.push({
        names: names(wanted.nodes),
        diff: nodesDiff && [names(nodesDiff.added), names(nodesDiff.removed), names(nodesDiff.changed)],
      });
      return active(wanted);
    };
    return { seen, ensure };
  };

  test("reach the provider whole by set, unchanged and inline, with the difference", async () => {
    const { seen, ensure } = recording();
    const { client } = await served({ ensure });
    const ask = (nodes: typeof ensureRequest.nodes | ReturnType<typeof fromSet> | ReturnType<typeof unchanged>) =>
      invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change(), nodes });
    const committed = await invokeOk(client, methods.applyNodeSet, upload("f1", [1, 2, 3]));
    expect(committed).toEqual({ fingerprint: "f1", count: 3, committed: true });
    await ask(fromSet("f1", 3));
    await ask(unchanged("f1", 3));
    await ask(inline("f2", 2, 3, 4));
    await ask(inline("f3"));
    expect(seen).toEqual([
      { names: ["n1", "n2", "n3"], diff: undefined },
      { names: ["n1", "n2", "n3"], diff: [[], [], []] },
      { names: ["n2", "n3", "n4"], diff: [["n4"], ["n1"], []] },
      { names: [], diff: [[], ["n2", "n3", "n4"], []] },
    ]);
  });

  test.each([
    ["an unknown set", fromSet("f9", 1), "NODE_SET_UNKNOWN", grpc.FAILED_PRECONDITION],
    ["unchanged nodes that are not known", unchanged("f9", 1), "NODES_FINGERPRINT_MISMATCH", grpc.FAILED_PRECONDITION],
    ["a count that does not fit", { ...inline("f9", 1, 2), count: 3 }, "NODE_SET_INTEGRITY", grpc.DATA_LOSS],
    ["a node twice", { ...inline("f9", 1, 1) }, "FIELD_INVALID", grpc.INVALID_ARGUMENT],
    ["no source", { fingerprint: "f9", count: 0 }, "FIELD_MISSING", grpc.INVALID_ARGUMENT],
  ])("are refused and never read as none for %s", async (_title, nodes, reason, code) => {
    const { seen, ensure } = recording();
    const { client } = await served({ ensure });
    const outcome = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change(), nodes });
    expect(outcome).toMatchObject({ code, reason });
    expect(seen).toEqual([]);
  });

  test("of a difference against another base are refused with the fingerprint held", async () => {
    const { client } = await served();
    await invokeOk(client, methods.applyNodeSet, upload("f1", [1]));
    expect(await invoke(client, methods.applyNodeSet, upload("f3", [1, 2], "f2"))).toMatchObject({
      code: grpc.FAILED_PRECONDITION,
      reason: "NODE_SET_BASE_MISMATCH",
      metadata: { fingerprint: "f1" },
    });
  });

  test("are forgotten with the load balancer", async () => {
    const { client } = await served();
    const ask = (nodes: ReturnType<typeof inline> | ReturnType<typeof unchanged>) =>
      invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change(), nodes });
    await ask(inline("f1", 1));
    expect((await ask(unchanged("f1", 1))).kind).toBe("ok");
    await invokeOk(client, methods.deleteLoadBalancer, { context, service, change: change() });
    expect(await ask(unchanged("f1", 1))).toMatchObject({ reason: "NODES_FINGERPRINT_MISMATCH" });
  });

  test("are served at 15,000 inline and refused beyond", async () => {
    const { seen, ensure } = recording();
    const { client } = await served({ ensure });
    const many = (count: number) => inline("many", ...Array.from({ length: count }, (_, index) => index));
    const ask = (count: number) =>
      invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change(), nodes: many(count) });
    expect((await ask(15_000)).kind).toBe("ok");
    expect(await ask(15_001)).toMatchObject({ reason: "FIELD_TOO_LARGE", fields: ["nodes.inline.nodes"] });
    expect(seen.map(({ names }) => names.length)).toEqual([15_000]);
  });
});

describe("reads of load balancers", () => {
  const get = { context, service };
  const listing = (list: ListLoadBalancers) =>
    serveForTest({ ...basics, loadBalancers: { ensure: active, delete: () => undefined, list } });

  test("find one in the list where there is no get", async () => {
    const { client } = await listing(async function* () {
      yield { id: "lb-0", service: { namespace: "default", name: "other", uid: "uid-0" } };
      yield { id: "lb-1", service: { namespace: "default", name: "web", uid: "uid-1" } };
    });
    const { outcome } = await invokeOk(client, methods.getLoadBalancer, get);
    expect(outcome).toMatchObject({ $case: "loadBalancer", value: { id: "lb-1" } });
  });

  test("do not conclude absence from a list with a gap", async () => {
    const { client } = await listing(async function* () {
      yield unreachable("zone-b");
    });
    expect(await invoke(client, methods.getLoadBalancer, get)).toMatchObject({
      code: grpc.UNAVAILABLE,
      reason: "ZONE_UNREACHABLE",
      metadata: { zone: "zone-b" },
    });
  });

  test("do not pass on an absence after a refusal by the cloud", async () => {
    const { client } = await served({
      get: (_lb, { recordCloudCall }) => {
        recordCloudCall({ status: 403 });
        return absent("LOOKUP_MISS");
      },
    });
    expect(await invoke(client, methods.getLoadBalancer, get)).toMatchObject({
      code: grpc.PERMISSION_DENIED,
      reason: "CLOUD_PERMISSION_DENIED",
    });
  });
});

describe("DeleteLoadBalancer", () => {
  test("never fails for a class or an annotation", async () => {
    const { client } = await served();
    const outcome = await invoke(client, methods.deleteLoadBalancer, {
      context,
      service,
      change: change(),
      class: "x".repeat(400),
      annotations: { big: "x".repeat(20_000) },
    });
    expect(outcome).toMatchObject({ response: { done: true } });
  });

  test("answers pending work with what is left, and done at the end", async () => {
    let calls = 0;
    const { client } = await served({
      delete: ({ key }) => {
        calls += 1;
        return calls === 1 ? pending(key, { remaining: ["security group sg-1"] }) : undefined;
      },
    });
    const ask = () => invokeOk(client, methods.deleteLoadBalancer, { context, service, change: { requestId: "d-1" } });
    expect(await ask()).toMatchObject({
      done: false,
      remaining: ["security group sg-1"],
      operation: { pollAfter: { seconds: 5n } },
    });
    expect(await ask()).toMatchObject({ done: true, operation: undefined });
    expect(await ask()).toMatchObject({ done: true });
    expect(calls).toBe(2);
  });
});

describe("UpdateLoadBalancerNodes", () => {
  test("gives the provider the nodes and passes its refusal on", async () => {
    const { client } = await served({
      updateNodes: ({ key, nodes }) => {
        if (nodes.length === 0) throw new ProviderError("LOAD_BALANCER_NOT_FOUND", `there is no ${key}`);
        return { id: key, registeredNodes: nodes.length };
      },
    });
    const ask = (nodes: ReturnType<typeof inline>) =>
      invoke(client, methods.updateLoadBalancerNodes, { context, service, change: change(), nodes });
    expect(await ask(inline("f1", 1, 2))).toMatchObject({
      response: { loadBalancer: { registeredNodes: 2, nodesFingerprint: "f1" } },
    });
    expect(await ask(inline("f2"))).toMatchObject({ code: grpc.NOT_FOUND, reason: "LOAD_BALANCER_NOT_FOUND" });
  });
});
