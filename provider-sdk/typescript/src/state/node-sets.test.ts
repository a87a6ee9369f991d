import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TargetNode } from "../definition/requests.ts";
import { ProviderError } from "../results/errors.ts";
import { diffNodes } from "./acknowledged-nodes.ts";
import { type NodeSetChunk, NodeSetStore } from "./node-sets.ts";

const node = (index: number, version = 0): TargetNode => ({
  name: `n${index}`,
  providerId: `acme://i-${index}`,
  addresses: [],
  labels: { version: String(version) },
});

const chunk = (given: Partial<NodeSetChunk>): NodeSetChunk => ({
  nodeSetId: "all",
  baseFingerprint: "",
  targetFingerprint: "f1",
  chunkIndex: 0,
  chunkCount: 1,
  upserts: [],
  removedProviderIds: [],
  targetCount: given.upserts?.length ?? 0,
  ...given,
});

const store = (maxSets = 8) => new NodeSetStore({ maxSets, nowMs: () => 0 });

const reasonOf = (act: () => unknown): string => {
  try {
    act();
    return "none";
  } catch (error) {
    return error instanceof ProviderError ? error.reason : String(error);
  }
};

const namesOf = (sets: NodeSetStore, id = "all") => sets.get(id)?.nodes.map(({ name }) => name);

describe("NodeSetStore", () => {
  test("shows nothing before the last missing chunk, then everything, in any order and with repetitions", () => {
    const sets = store();
    const part = (chunkIndex: number) =>
      chunk({ chunkIndex, chunkCount: 3, upserts: [node(chunkIndex)], targetCount: 3 });
    expect(sets.apply(part(2))).toEqual({ fingerprint: "", count: 0, committed: false });
    expect(sets.apply(part(0)).committed).toBe(false);
    expect(sets.apply(part(2)).committed).toBe(false);
    expect(namesOf(sets)).toBeUndefined();
    expect(sets.apply(part(1))).toEqual({ fingerprint: "f1", count: 3, committed: true });
    expect(namesOf(sets)?.toSorted()).toEqual(["n0", "n1", "n2"]);
    expect(sets.apply(part(1))).toEqual({ fingerprint: "f1", count: 3, committed: true });
  });

  test("applies a difference to its base and does not change the base before all chunks are there", () => {
    const sets = store();
    sets.apply(chunk({ upserts: [node(1), node(2), node(3)] }));
    const delta = { baseFingerprint: "f1", targetFingerprint: "f2", chunkCount: 2, targetCount: 3 };
    sets.apply(chunk({ ...delta, chunkIndex: 0, removedProviderIds: ["acme://i-1"] }));
    expect(namesOf(sets)).toEqual(["n1", "n2", "n3"]);
    sets.apply(chunk({ ...delta, chunkIndex: 1, upserts: [node(4), node(2, 7)] }));
    expect(namesOf(sets)).toEqual(["n2", "n3", "n4"]);
    expect(sets.get("all")?.byProviderId.get("acme://i-2")?.labels).toEqual({ version: "7" });
  });

  test.each([
    ["another base", { baseFingerprint: "f9" }, "NODE_SET_BASE_MISMATCH"],
    ["a set that is not known", { nodeSetId: "zone=a", baseFingerprint: "f1" }, "NODE_SET_BASE_MISMATCH"],
    ["nodes that do not add up", { baseFingerprint: "f1", upserts: [node(9)], targetCount: 5 }, "NODE_SET_INTEGRITY"],
  ])("commits no part of a difference against %s", (_title, given, reason) => {
    const sets = store();
    sets.apply(chunk({ upserts: [node(1)] }));
    expect(reasonOf(() => sets.apply(chunk({ targetFingerprint: "f2", ...given })))).toBe(reason);
    expect([namesOf(sets), sets.get("all")?.fingerprint]).toEqual([["n1"], "f1"]);
  });

  test("starts over when chunks of another upload arrive", () => {
    const sets = store();
    sets.apply(chunk({ targetFingerprint: "old", chunkCount: 2, upserts: [node(1)], targetCount: 2 }));
    sets.apply(chunk({ targetFingerprint: "new", chunkCount: 2, upserts: [node(2)], targetCount: 2 }));
    sets.apply(chunk({ targetFingerprint: "new", chunkCount: 2, chunkIndex: 1, upserts: [node(3)], targetCount: 2 }));
    expect([namesOf(sets), sets.get("all")?.fingerprint]).toEqual([["n2", "n3"], "new"]);
  });

  test("forgets the set used longest ago, never empties one", () => {
    const sets = store(2);
    for (const nodeSetId of ["a", "b"]) sets.apply(chunk({ nodeSetId, upserts: [node(1)] }));
    sets.get("a");
    sets.apply(chunk({ nodeSetId: "c", upserts: [node(1)] }));
    expect([namesOf(sets, "a"), namesOf(sets, "b"), namesOf(sets, "c")]).toEqual([["n1"], undefined, ["n1"]]);
  });

  test("holds what a plain map holds after any history of uploads and differences", () => {
    const step = fc.record({
      whole: fc.boolean(),
      changes: fc.uniqueArray(fc.record({ index: fc.nat(12), version: fc.nat(5), gone: fc.boolean() }), {
        selector: ({ index }) => index,
        maxLength: 8,
      }),
      chunkCount: fc.integer({ min: 1, max: 3 }),
      lost: fc.integer({ min: 0, max: 9 }),
      order: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12, size: "max" }), (steps) => {
        const sets = store();
        let model = new Map<string, TargetNode>();
        let fingerprint = "";
        for (const [number, { whole, changes, chunkCount, lost, order }] of steps.entries()) {
          const base = whole || fingerprint === "" ? new Map<string, TargetNode>() : new Map(model);
          const wanted = new Map(base);
          const removed = changes.filter(({ gone, index }) => gone && base.has(node(index).providerId));
          for (const { index } of removed) wanted.delete(node(index).providerId);
          const upserts = changes.filter(({ gone }) => !gone).map(({ index, version }) => node(index, version));
          for (const upsert of upserts) wanted.set(upsert.providerId, upsert);
          const head = {
            baseFingerprint: whole ? "" : fingerprint,
            targetFingerprint: `f${number}`,
            chunkCount,
            targetCount: wanted.size,
          };
          const chunks = Array.from({ length: chunkCount }, (_, chunkIndex) =>
            chunk({
              ...head,
              chunkIndex,
              upserts: upserts.filter((_node, position) => position % chunkCount === chunkIndex),
              removedProviderIds: chunkIndex === 0 ? removed.map(({ index }) => node(index).providerId) : [],
            }),
          );
          // Sometimes a chunk never arrives: then nothing may have happened.
          const sent = chunks.filter(({ chunkIndex }) => chunkIndex !== lost);
          for (const part of order ? sent : sent.toReversed()) sets.apply(part);
          if (sent.length === chunkCount) {
            model = wanted;
            fingerprint = head.targetFingerprint;
          }
          const held = sets.get("all");
          expect([held?.fingerprint ?? "", new Map(held?.byProviderId)]).toEqual([fingerprint, model]);
          expect(new Set(held?.nodes)).toEqual(new Set(model.values()));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("diffNodes()", () => {
  test("turns the one list into the other", () => {
    const list = fc.uniqueArray(fc.record({ index: fc.nat(10), version: fc.nat(2) }), {
      selector: ({ index }) => index,
    });
    fc.assert(
      fc.property(list, list, (left, right) => {
        const before = left.map(({ index, version }) => node(index, version));
        const after = right.map(({ index, version }) => node(index, version));
        const { added, removed, changed } = diffNodes(before, after);
        const result = new Map(before.map((each) => [each.providerId, each]));
        for (const { providerId } of removed) result.delete(providerId);
        for (const each of [...added, ...changed]) result.set(each.providerId, each);
        expect(result).toEqual(new Map(after.map((each) => [each.providerId, each])));
        expect(added.some(({ providerId }) => before.some((each) => each.providerId === providerId))).toBe(false);
      }),
    );
  });
});
