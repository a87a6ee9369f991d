import { createHash } from "node:crypto";
import type { Diagnostic, TargetNode } from "@cloudwire/provider-sdk";
import { beforeEach, expect, test } from "vitest";
import { TargetReader } from "./targets.ts";

const node = (name: string, id?: string): TargetNode => ({
  name,
  providerId: id === undefined ? "other://machine" : `sim://${id}`,
  id,
  addresses: [],
  labels: {},
});
const nodes = [
  node("second", "north-a/i-00000000000b"),
  node("elsewhere"),
  node("first", "north-b/i-00000000000a"),
  node("unreadable", "nowhere"),
];

let reported: string[];
beforeEach(() => {
  reported = [];
});
const context = {
  addDiagnostic: ({ summary }: Diagnostic): void => {
    reported.push(summary);
  },
};

test("TargetReader.read() gives the ids in order with the cloud's digest, and reports nodes of other clouds", () => {
  expect(new TargetReader().read({ nodes, nodesFingerprint: "f1" }, context)).toEqual({
    ids: ["i-00000000000a", "i-00000000000b"],
    digest: createHash("sha256").update("i-00000000000a\ni-00000000000b\n").digest("hex"),
    metadata: { "cloudwire.dev/nodes-fingerprint": "f1", "cloudwire.dev/targets-digest": expect.any(String) },
    nodes: expect.any(Map),
  });
  expect(reported).toEqual(["No targets, because their instances are not in this cloud: elsewhere, unreadable"]);
});

test("TargetReader.read() reads a list once and returns the result to each load balancer", () => {
  const reader = new TargetReader();
  let looks = 0;
  const counted = nodes.map((each) =>
    Object.defineProperty({ ...each }, "id", {
      get: () => {
        looks += 1;
        return each.id;
      },
    }),
  );
  const first = reader.read({ nodes: counted, nodesFingerprint: "f1" }, context);
  const looksBefore = looks;
  const second = reader.read({ nodes: counted, nodesFingerprint: "f2" }, context);
  expect(looks).toBe(looksBefore);
  expect(second).toEqual({ ...first, metadata: { ...first.metadata, "cloudwire.dev/nodes-fingerprint": "f2" } });
  expect(reported).toHaveLength(2);
  const fewer = reader.read({ nodes: counted.slice(1), nodesFingerprint: "f3" }, context);
  expect(fewer.ids).toEqual(["i-00000000000a"]);
});
