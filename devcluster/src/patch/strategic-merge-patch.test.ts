import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { typeTable } from "../schema/gen/type-table.ts";
import { createSchema } from "../schema/schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const node = createSchema(typeTable).shape("core.v1.Node");
const ready = { type: "Ready", status: "True", reason: "R" };
const disk = { type: "DiskPressure", status: "False" };
const internal = { type: "InternalIP", address: "10.0.0.1" };
const internal2 = { type: "InternalIP", address: "10.0.0.2" };
const hostname = { type: "Hostname", address: "h" };
const taint = { key: "a", effect: "NoSchedule" };

const patched = (document: JsonObject, patch: JsonObject): JsonObject =>
  applyStrategicMergePatch(node, document, patch);

describe("applyStrategicMergePatch() of maps", () => {
  const labels = { metadata: { labels: { a: "1", b: "2" } } };
  test.each<[string, JsonObject, JsonObject]>([
    ["joins keys", { labels: { b: "3", c: "4" } }, { labels: { a: "1", b: "3", c: "4" } }],
    ["removes a null key", { labels: { a: null } }, { labels: { b: "2" } }],
    ["removes a null map", { labels: null }, {}],
    ["replaces by directive", { labels: { $patch: "replace", z: "9" } }, { labels: { z: "9" } }],
    ["deletes by directive", { labels: { $patch: "delete" } }, { labels: {} }],
    ["keeps only the retained keys", { labels: { $retainKeys: ["a"], a: "7" } }, { labels: { a: "7" } }],
    [
      "drops nulls of what is new",
      { annotations: { x: "y", z: null } },
      { labels: { a: "1", b: "2" }, annotations: { x: "y" } },
    ],
  ])("%s", (_, metadata, expected) => {
    expect(patched(labels, { metadata })).toEqual({ metadata: expected });
  });
});

describe("applyStrategicMergePatch() of lists with a merge key", () => {
  test.each<[string, readonly JsonObject[], JsonObject, readonly JsonObject[]]>([
    [
      "joins by type, patched elements first where the old order allows",
      [ready, disk],
      { conditions: [{ type: "DiskPressure", status: "True" }] },
      [ready, { ...disk, status: "True" }],
    ],
    ["puts a new element in front", [ready], { conditions: [disk] }, [disk, ready]],
    ["deletes by type", [ready, disk], { conditions: [{ $patch: "delete", type: "Ready" }] }, [disk]],
    ["replaces the list", [ready, disk], { conditions: [{ $patch: "replace" }, disk] }, [disk]],
    [
      "removes a field of an element",
      [ready],
      { conditions: [{ type: "Ready", reason: null }] },
      [{ type: "Ready", status: "True" }],
    ],
    [
      "orders by directive",
      [ready, disk],
      { "$setElementOrder/conditions": [{ type: "DiskPressure" }, { type: "Ready" }] },
      [disk, ready],
    ],
  ])("%s", (_, before, status, after) => {
    expect(patched({ status: { conditions: before } }, { status })).toEqual({ status: { conditions: after } });
  });

  test("meets only the first of several elements with one key, which is why node addresses need $patch: replace", () => {
    const patch = { status: { addresses: [{ type: "InternalIP", address: "10.0.0.9" }] } };
    expect(patched({ status: { addresses: [internal, internal2, hostname] } }, patch)).toEqual({
      status: { addresses: [{ type: "InternalIP", address: "10.0.0.9" }, internal2, hostname] },
    });
  });
});

describe("applyStrategicMergePatch() of other lists", () => {
  const finalizers = { metadata: { finalizers: ["one", "two", "three"] } };
  test.each<[string, JsonObject, readonly string[]]>([
    ["unites primitives, new ones in front", { finalizers: ["four"] }, ["four", "one", "two", "three"]],
    ["deletes primitives", { "$deleteFromPrimitiveList/finalizers": ["two"] }, ["one", "three"]],
    ["orders primitives", { "$setElementOrder/finalizers": ["three", "one"] }, ["two", "three", "one"]],
  ])("%s", (_, metadata, expected) => {
    expect(patched(finalizers, { metadata })).toEqual({ metadata: { finalizers: expected } });
  });

  test("replaces taints, which have no merge key", () => {
    expect(patched({ spec: { taints: [taint] } }, { spec: { taints: [{ key: "b", effect: "NoExecute" }] } })).toEqual({
      spec: { taints: [{ key: "b", effect: "NoExecute" }] },
    });
  });
});

describe("applyStrategicMergePatch() refuses", () => {
  test.each<[string, JsonObject, number]>([
    ["an element without its key", { status: { conditions: [{ status: "True" }] } }, 500],
    ["an unknown directive in a list", { status: { conditions: [{ $patch: "bogus", type: "Ready" }] } }, 500],
    ["an unknown directive in a map", { metadata: { $patch: "bogus" } }, 500],
    ["a primitive list of nothing", { metadata: { $deleteFromPrimitiveList: null } }, 400],
    ["keys that were not to be kept", { metadata: { $retainKeys: ["a"], b: "2" } }, 400],
    [
      "an order that its own patch does not follow",
      { status: { "$setElementOrder/conditions": [{ type: "Ready" }], conditions: [disk] } },
      500,
    ],
  ])("%s", (_, patch, code) => {
    const document = { metadata: {}, status: { conditions: [ready] } };
    expect(() => patched(document, patch)).toThrow(expect.objectContaining({ code }));
  });
});
