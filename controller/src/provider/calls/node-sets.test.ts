import { ApplyNodeSetRequest, EnsureLoadBalancerRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { beforeEach, describe, expect, test } from "vitest";
import type { NodeSetChunk } from "../model/client.ts";
import type { TargetNode } from "../model/load-balancer.ts";
import { nodeSelection, prepareTarget } from "../convert/node.ts";
import { nodeSelectionToProto, nodeSetChunkToProto } from "../convert/load-balancer.ts";
import { contractError, type ProviderError } from "../model/errors.ts";
import { isUnresolved, NodeSets } from "./node-sets.ts";

const selectionOf = (nodes: readonly TargetNode[]) => nodeSelection(nodes.map(prepareTarget));

const options = { signal: new AbortController().signal };
const machine = (index: number, zone = "a"): TargetNode => ({
  name: `node-${index}`,
  providerId: `acme://${zone}/i-${String(index).padStart(12, "0")}`,
  addresses: [{ type: "InternalIP", address: `10.0.${Math.floor(index / 250)}.${index % 250}` }],
  zone,
  labels: {},
});
const machines = (count: number, from = 0) => Array.from({ length: count }, (_, index) => machine(from + index));
const selection = (count: number, from = 0) => selectionOf(machines(count, from));

let chunks: NodeSetChunk[];
let held: string;
let fail: (chunk: NodeSetChunk) => ProviderError | undefined;
let sets: NodeSets;

beforeEach(() => {
  chunks = [];
  held = "";
  fail = () => undefined;
  sets = new NodeSets(async (chunk) => {
    chunks.push(chunk);
    await Promise.resolve();
    const error = fail(chunk);
    if (error !== undefined) throw error;
    if (chunk.baseFingerprint !== "" && chunk.baseFingerprint !== held) {
      throw contractError("NODE_SET_BASE_MISMATCH", "another base is held");
    }
    const isLast = chunk.chunkIndex === chunk.chunkCount - 1;
    if (isLast) held = chunk.targetFingerprint;
    return { fingerprint: held, count: chunk.targetCount, committed: isLast };
  });
});

const shapes = () =>
  chunks.map(({ baseFingerprint, chunkIndex, chunkCount, upserts, removedProviderIds, targetCount }) => {
    const kind = baseFingerprint === "" ? "whole" : "difference";
    return `${kind} ${chunkIndex + 1}/${chunkCount} +${upserts.length} -${removedProviderIds.length} =${targetCount}`;
  });

describe("NodeSets.isFit()", () => {
  const capability = { maxSets: 64, maxNodes: 5000, durable: false };

  test.each([
    { it: "many nodes", given: selection(100), of: capability, want: true },
    { it: "few nodes", given: selection(99), of: capability, want: false },
    { it: "more than a set takes", given: selection(101), of: { ...capability, maxNodes: 100 }, want: false },
    { it: "a provider without sets", given: selection(100), of: undefined, want: false },
    {
      it: "nodes that are not spelled out",
      given: { ...selection(100), source: { kind: "unchanged" } as const },
      of: capability,
      want: false,
    },
  ])("is $want for $it", ({ given, of, want }) => {
    expect(sets.isFit(given, of)).toBe(want);
  });
});

describe("NodeSets.reference()", () => {
  test("uploads once for all who ask at the same time, in chunks, and answers a reference", async () => {
    const wanted = selection(2500);
    const answers = await Promise.all([1, 2, 3].map(() => sets.reference(wanted, options)));
    expect(shapes()).toEqual(["whole 1/3 +1000 -0 =2500", "whole 2/3 +1000 -0 =2500", "whole 3/3 +500 -0 =2500"]);
    expect(answers).toEqual([1, 2, 3].map(() => ({ ...wanted, source: { kind: "nodeSet", id: "all" } })));
  });

  test("uploads only what has changed since", async () => {
    await sets.reference(selection(300), options);
    const moved = selectionOf([...machines(290, 10), machine(9, "b")]);
    await sets.reference(moved, options);
    expect(shapes()).toEqual(["whole 1/1 +300 -0 =300", "difference 1/1 +1 -10 =291"]);
    await sets.reference(moved, options);
    expect(chunks).toHaveLength(2);
  });

  test("uploads a node whose facts have changed", async () => {
    await sets.reference(selection(200), options);
    const [first, ...rest] = machines(200);
    await sets.reference(selectionOf([{ ...machine(0), addresses: [] }, ...rest]), options);
    expect([shapes().at(-1), first?.name]).toEqual(["difference 1/1 +1 -0 =200", "node-0"]);
  });

  test("uploads the whole when half of it has changed", async () => {
    await sets.reference(selection(200), options);
    await sets.reference(selection(200, 100), options);
    expect(shapes()).toEqual(["whole 1/1 +200 -0 =200", "whole 1/1 +200 -0 =200"]);
  });

  test("uploads the whole when the provider holds another base, as after its restart", async () => {
    await sets.reference(selection(200), options);
    held = "";
    await sets.reference(selection(201), options);
    expect(shapes().slice(1)).toEqual(["difference 1/1 +1 -0 =201", "whole 1/1 +201 -0 =201"]);
  });

  test("passes a failure on and restarts the next time, for other waiting callers too", async () => {
    let failures = 1;
    fail = () => (failures-- > 0 ? contractError("CLOUD_UNAVAILABLE", "no") : undefined);
    const answers = await Promise.allSettled([
      sets.reference(selection(200), options),
      sets.reference(selection(200), options),
    ]);
    // words-ok: the status of a settled promise
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(shapes()).toEqual(["whole 1/1 +200 -0 =200", "whole 1/1 +200 -0 =200"]);
  });
});

describe("NodeSets.forget()", () => {
  test("makes the set be uploaded again, but does not fight over another one", async () => {
    const [one, two] = [selection(200), selection(201)];
    await sets.reference(one, options);
    expect(sets.forget(two)).toBe(false);
    expect(sets.forget(one)).toBe(true);
    await sets.reference(one, options);
    expect(shapes()).toEqual(["whole 1/1 +200 -0 =200", "whole 1/1 +200 -0 =200"]);
  });

  test("answers all who find the set unknown alike, and they share one upload", async () => {
    const wanted = selection(200);
    await sets.reference(wanted, options);
    expect([1, 2, 3].map(() => sets.forget(wanted))).toEqual([true, true, true]);
    const first = sets.reference(wanted, options);
    expect(sets.forget(wanted)).toBe(true);
    await Promise.all([first, sets.reference(wanted, options)]);
    expect(shapes()).toEqual(["whole 1/1 +200 -0 =200", "whole 1/1 +200 -0 =200"]);
  });
});

test.each(["NODES_FINGERPRINT_MISMATCH", "NODE_SET_UNKNOWN", "NODE_SET_INTEGRITY"] as const)(
  "isUnresolved() is true for %s",
  (reason) => {
    expect(isUnresolved(contractError(reason, "m"))).toBe(true);
  },
);

test("isUnresolved() is false for anything else", () => {
  expect([isUnresolved(contractError("NODE_SET_BASE_MISMATCH", "m")), isUnresolved(new Error("m"))]).toEqual([
    false,
    false,
  ]);
});

test("a node set makes one change of nodes of 200 load balancers at 1,000 nodes a hundredth of the bytes", async () => {
  const before = selection(1000);
  const after = selectionOf([...machines(999), machine(2000)]);
  await sets.reference(before, options);
  chunks.length = 0;
  const reference = await sets.reference(after, options);
  const sizeOf = (nodes: typeof after): number =>
    EnsureLoadBalancerRequest.encode(
      EnsureLoadBalancerRequest.fromPartial({ nodes: nodeSelectionToProto(nodes) }),
    ).finish().length;
  const uploads = chunks.map((chunk) =>
    ApplyNodeSetRequest.encode(ApplyNodeSetRequest.fromPartial(nodeSetChunkToProto(chunk))).finish(),
  );
  const inlineBytes = 200 * sizeOf(after);
  const setBytes = 200 * sizeOf(reference) + uploads.reduce((sum, { length }) => sum + length, 0);
  expect(inlineBytes).toBeGreaterThan(10_000_000);
  expect(setBytes).toBeLessThan(inlineBytes / 100);
});
