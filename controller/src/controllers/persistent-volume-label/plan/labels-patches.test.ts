import { describe, expect, test } from "vitest";
import { objectMeta } from "../../../../test/support/builders.ts";
import { admissionPatch, labelingPatch } from "./labels.ts";

const ZONE = "topology.kubernetes.io/zone";
const NORTH = [[{ key: ZONE, values: ["a", "b"] }]];
const EXPRESSION = { key: ZONE, operator: "In", values: ["a", "b"] };
const AFFINITY = { required: { nodeSelectorTerms: [{ matchExpressions: [EXPRESSION] }] } };

describe("admissionPatch()", () => {
  test("is empty when nothing changes", () => {
    expect(admissionPatch({ metadata: {} }, { labels: {}, topology: [] })).toEqual([]);
  });

  test("makes labels and affinity where there are none", () => {
    expect(admissionPatch({ metadata: {}, spec: {} }, { labels: { [ZONE]: "a__b" }, topology: NORTH })).toEqual([
      { op: "add", path: "/metadata/labels", value: { [ZONE]: "a__b" } },
      { op: "add", path: "/spec/nodeAffinity", value: AFFINITY },
    ]);
  });

  test("adds label by label where there are some", () => {
    const object = { metadata: { labels: { app: "db" } } };
    expect(admissionPatch(object, { labels: { [ZONE]: "a", "a~b": "c" }, topology: [] })).toEqual([
      { op: "add", path: "/metadata/labels/topology.kubernetes.io~1zone", value: "a" },
      { op: "add", path: "/metadata/labels/a~0b", value: "c" },
    ]);
  });

  test.each([null, {}, { required: null }, { required: {} }, { required: { nodeSelectorTerms: [] } }])(
    "fills the affinity %j",
    (nodeAffinity) => {
      const plan = { labels: {}, topology: NORTH };
      expect(admissionPatch({ spec: { nodeAffinity } }, plan)).toEqual([
        { op: "add", path: "/spec/nodeAffinity", value: AFFINITY },
      ]);
    },
  );

  test("adds to every term and keeps what it does not know", () => {
    const disk = { key: "disk", operator: "In", values: ["ssd"] };
    const fields = [{ key: "metadata.name", operator: "In", values: ["n"] }];
    const nodeSelectorTerms = [{ matchExpressions: [disk] }, { matchFields: fields, future: 1 }];
    const topology = [...NORTH, [{ key: "rack", values: ["1"] }]];
    const rack = { key: "rack", operator: "In", values: ["1"] };
    const object = { spec: { nodeAffinity: { required: { nodeSelectorTerms } } } };
    expect(admissionPatch(object, { labels: {}, topology })).toEqual([
      {
        op: "replace",
        path: "/spec/nodeAffinity/required/nodeSelectorTerms",
        value: [
          { matchExpressions: [disk, EXPRESSION] },
          { matchExpressions: [disk, rack] },
          { matchFields: fields, future: 1, matchExpressions: [EXPRESSION] },
          { matchFields: fields, future: 1, matchExpressions: [rack] },
        ],
      },
    ]);
  });
});

describe("labelingPatch()", () => {
  const pv = {
    metadata: objectMeta({ name: "pv", uid: "u-1", resourceVersion: "7" }),
    spec: { source: undefined, nodeAffinity: undefined },
  };

  test.each([
    {
      sentence: "both",
      labels: { [ZONE]: "a__b" },
      topology: NORTH,
      patch: {
        metadata: { uid: "u-1", resourceVersion: "7", labels: { [ZONE]: "a__b" } },
        spec: { nodeAffinity: AFFINITY },
      },
    },
    {
      sentence: "labels",
      labels: { [ZONE]: "a" },
      topology: [],
      patch: { metadata: { uid: "u-1", resourceVersion: "7", labels: { [ZONE]: "a" } } },
    },
    {
      sentence: "the affinity",
      labels: {},
      topology: NORTH,
      patch: { metadata: { uid: "u-1", resourceVersion: "7" }, spec: { nodeAffinity: AFFINITY } },
    },
  ])("adds $sentence to the very object that was read", ({ labels, topology, patch }) => {
    expect(labelingPatch(pv, labels, topology)).toEqual(patch);
  });
});
