import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { LoadBalancer } from "../../definition/load-balancers.ts";
import type { DesiredLoadBalancer } from "../../definition/requests.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { context } from "../../../test/support/serve-for-test.ts";
import {
  active,
  change,
  ensureRequest,
  inline,
  served,
  service,
  target,
} from "../../../test/support/serve-load-balancers.ts";

const { methods } = CloudProviderDefinition;

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
    const ensure = (wanted: DesiredLoadBalancer): LoadBalancer => {
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

  test("come without addresses of a kind that is not known, which fail no call", async () => {
    const addresses: unknown[] = [];
    const { client } = await served({
      ensure: (wanted) => {
        addresses.push(wanted.nodes.map((node) => [node.ip, node.addresses]));
        return active(wanted);
      },
    });
    const unknownKind: ReturnType<typeof target>["addresses"][number] = JSON.parse('{ "type": 99, "address": "::1" }');
    const node = { ...target(1), addresses: [unknownKind, ...target(1).addresses] };
    const nodes = { ...inline("nodes-1", 1), source: { $case: "inline" as const, value: { nodes: [node] } } };
    await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, nodes, change: change() });
    expect(addresses).toEqual([[["10.0.0.1", [{ type: "InternalIP", address: "10.0.0.1" }]]]]);
  });

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

describe("nodes that are not all targets", () => {
  const unregisteredNodes = Array.from({ length: 101 }, (_, index) => ({
    name: `n${index}`,
    reason: "InstanceStopped",
    message: "Start the instance.",
  }));
  const partial = ({ key, nodesFingerprint }: { readonly key: string; readonly nodesFingerprint: string }) => ({
    id: key,
    nodesFingerprint,
    unregisteredNodes,
  });

  test("are named and never acknowledged, in changes, reads and lists (case S-2)", async () => {
    const { client } = await served({
      ensure: partial,
      updateNodes: partial,
      get: ({ key }) => partial({ key, nodesFingerprint: "stored" }),
      list: async function* () {
        yield await Promise.resolve({ ...partial({ key: "lb", nodesFingerprint: "stored" }), service });
      },
    });
    const nodes = inline("f1", 1, 2);
    const got = [
      (await invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change(), nodes })).loadBalancer,
      (await invokeOk(client, methods.updateLoadBalancerNodes, { context, service, change: change(), nodes }))
        .loadBalancer,
      (await invokeOk(client, methods.getLoadBalancer, { context, service })).outcome?.value,
      (await invokeOk(client, methods.listLoadBalancers, { context })).loadBalancers[0],
    ];
    for (const loadBalancer of got) {
      expect(loadBalancer).toMatchObject({ nodesFingerprint: "" });
      expect(loadBalancer).toHaveProperty("unregisteredNodes", expect.objectContaining({ length: 100 }));
    }
    const unchanged = { fingerprint: "f1", count: 2, source: { $case: "unchanged", value: {} } } as const;
    const again = { ...ensureRequest, change: change(), nodes: unchanged };
    expect(await invoke(client, methods.ensureLoadBalancer, again)).toMatchObject({
      reason: "NODES_FINGERPRINT_MISMATCH",
    });
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
