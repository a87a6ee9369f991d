import { describe, expect, test } from "vitest";
import type { Patch } from "./client.ts";
import { patchChanges } from "./planning-client.ts";

const object = {
  metadata: {
    uid: "u",
    resourceVersion: "7",
    labels: { a: "1" },
    finalizers: ["theirs", "ours"],
  },
  spec: { taints: [{ key: "t", effect: "NoSchedule" }], podCIDRs: ["10.0.0.0/24"] },
  status: {
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "then" }],
  },
};

type Row = readonly [what: string, body: Extract<Patch, { kind: "strategic" }>["body"], wanted: readonly unknown[]];

describe("patchChanges() of a strategic merge patch", () => {
  test.each<Row>([
    ["nothing new", { metadata: { labels: { a: "1" } } }, []],
    ["what only says which object is meant", { metadata: { uid: "other", resourceVersion: "1" } }, []],
    [
      "a new label",
      { metadata: { labels: { "example.com/b": "2" } } },
      [{ path: 'metadata.labels["example.com/b"]', before: undefined, after: "2" }],
    ],
    ["another value", { metadata: { labels: { a: "2" } } }, [{ path: "metadata.labels.a", before: "1", after: "2" }]],
    [
      "a removal",
      { metadata: { labels: { a: null } } },
      [{ path: "metadata.labels.a", before: "1", after: undefined }],
    ],
    ["a removal of what is not there", { metadata: { labels: { b: null } } }, []],
    [
      "an object where there is none",
      { metadata: { annotations: { a: "1" } } },
      [{ path: "metadata.annotations", before: undefined, after: { a: "1" } }],
    ],
    ["an item of a set that is there", { metadata: { finalizers: ["ours"] } }, []],
    [
      "a new item of a set, with its order",
      { metadata: { "$setElementOrder/finalizers": ["theirs", "ours", "new"], finalizers: ["new"] } },
      [{ path: 'metadata.finalizers["new"]', before: undefined, after: "new" }],
    ],
    [
      "an item taken from a set",
      { metadata: { "$deleteFromPrimitiveList/finalizers": ["ours", "another"] } },
      [{ path: 'metadata.finalizers["ours"]', before: "ours", after: undefined }],
    ],
    [
      "a list that is replaced",
      { spec: { taints: [{ key: "u", effect: "NoSchedule" }] } },
      [
        {
          path: "spec.taints",
          before: [{ key: "t", effect: "NoSchedule" }],
          after: [{ key: "u", effect: "NoSchedule" }],
        },
      ],
    ],
    ["the same list", { spec: { taints: [{ effect: "NoSchedule", key: "t" }] } }, []],
    [
      "a list that goes",
      { spec: { taints: null } },
      [{ path: "spec.taints", before: object.spec.taints, after: undefined }],
    ],
    [
      "the same condition at another time",
      { status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: "now" }] } },
      [],
    ],
    [
      "another status of a condition",
      { status: { conditions: [{ type: "Ready", status: "False" }] } },
      [
        {
          path: 'status.conditions["Ready"]',
          before: object.status.conditions[0],
          after: { type: "Ready", status: "False" },
        },
      ],
    ],
    [
      "a new condition",
      { status: { conditions: [{ type: "Mine", status: "True" }] } },
      [{ path: 'status.conditions["Mine"]', before: undefined, after: { type: "Mine", status: "True" } }],
    ],
    [
      "a condition that goes",
      { status: { conditions: [{ $patch: "delete", type: "Ready" }] } },
      [{ path: 'status.conditions["Ready"]', before: object.status.conditions[0], after: undefined }],
    ],
    ["a condition that is gone", { status: { conditions: [{ $patch: "delete", type: "Mine" }] } }, []],
    [
      "addresses that take the place of all",
      { status: { addresses: [{ type: "Hostname", address: "a" }, { $patch: "replace" }] } },
      [{ path: "status.addresses", before: object.status.addresses, after: [{ type: "Hostname", address: "a" }] }],
    ],
    ["the same addresses", { status: { addresses: [...object.status.addresses, { $patch: "replace" }] } }, []],
  ])("returns %s", (_what, body, wanted) => {
    expect(patchChanges(object, { kind: "strategic", body })).toEqual(wanted);
  });

  test("returns a merge patch's lists as replaced", () => {
    const body = { metadata: { finalizers: ["ours"] } };
    expect(patchChanges(object, { kind: "merge", body })).toEqual([
      { path: "metadata.finalizers", before: ["theirs", "ours"], after: ["ours"] },
    ]);
  });

  test("returns the steps of a JSON patch", () => {
    expect(patchChanges(object, { kind: "json", body: [{ op: "remove", path: "/metadata/labels/a" }] })).toEqual([
      { path: "/metadata/labels/a", before: undefined, after: undefined },
    ]);
  });
});
