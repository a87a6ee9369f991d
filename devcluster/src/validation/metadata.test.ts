import { describe, expect, test } from "vitest";
import type { ObjectMeta } from "../object.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata.ts";
import { dnsSubdomain } from "./names.ts";

const namespaced = { namespaced: true, nameRule: dnsSubdomain };
const cluster = { namespaced: false, nameRule: dnsSubdomain };
const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };

const fieldsOf = (errors: readonly { readonly kind: string; readonly field: string }[]): readonly string[] =>
  errors.map(({ kind, field }) => `${kind} ${field}`);

describe("validateMetadata()", () => {
  test("is content with ordinary metadata", () => {
    const metadata = {
      name: "a",
      namespace: "b",
      labels: { "a/b": "c" },
      annotations: { "a/B": "anything at all" },
      finalizers: ["a.b/c", "foregroundDeletion"],
      ownerReferences: [owner],
    };
    expect(validateMetadata({ metadata }, namespaced)).toEqual([]);
  });

  test.each<[string, ObjectMeta, readonly string[]]>([
    ["no name", { namespace: "b" }, ["required metadata.name"]],
    ["a bad name", { name: "A", namespace: "b" }, ["invalid metadata.name"]],
    ["a bad generated name", { name: "a", generateName: "A-", namespace: "b" }, ["invalid metadata.generateName"]],
    ["no namespace", { name: "a" }, ["required metadata.namespace"]],
    [
      "a bad label",
      { name: "a", namespace: "b", labels: { "a b": "c d" } },
      ["invalid metadata.labels", "invalid metadata.labels"],
    ],
    [
      "a bad annotation key",
      { name: "a", namespace: "b", annotations: { "a b": "" } },
      ["invalid metadata.annotations"],
    ],
    [
      "too many annotations",
      { name: "a", namespace: "b", annotations: { a: "x".repeat(256 * 1024) } },
      ["tooLong metadata.annotations"],
    ],
    [
      "a finalizer without domain",
      { name: "a", namespace: "b", finalizers: ["x"] },
      ["invalid metadata.finalizers[0]"],
    ],
    [
      "two controllers",
      {
        name: "a",
        namespace: "b",
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, uid: "v", controller: true },
        ],
      },
      ["invalid metadata.ownerReferences"],
    ],
    [
      "an owner without uid",
      { name: "a", namespace: "b", ownerReferences: [{ ...owner, uid: "" }] },
      ["required metadata.ownerReferences[0].uid"],
    ],
    [
      "an owner without apiVersion",
      { name: "a", namespace: "b", ownerReferences: [owner, { ...owner, apiVersion: "" }] },
      ["required metadata.ownerReferences[1].apiVersion"],
    ],
    [
      "an owner whose apiVersion has no version",
      { name: "a", namespace: "b", ownerReferences: [{ ...owner, apiVersion: "apps/" }] },
      ["invalid metadata.ownerReferences[0].apiVersion"],
    ],
  ])("refuses %s", (_, metadata, expected) => {
    expect(fieldsOf(validateMetadata({ metadata }, namespaced))).toEqual(expected);
  });

  test("refuses a namespace on a cluster-wide kind", () => {
    expect(fieldsOf(validateMetadata({ metadata: { name: "a", namespace: "b" } }, cluster))).toEqual([
      "forbidden metadata.namespace",
    ]);
  });

  test("lets a kind take any finalizer", () => {
    expect(
      validateMetadata({ metadata: { name: "a", finalizers: ["x"] } }, { ...cluster, anyFinalizer: true }),
    ).toEqual([]);
  });
});

describe("validateMetadataUpdate()", () => {
  const old = { metadata: { name: "a", uid: "u", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a.b/c"] } };

  test("lets finalizers go while the object is being deleted", () => {
    expect(validateMetadataUpdate({ metadata: { ...old.metadata, finalizers: [] } }, old, cluster)).toEqual([]);
  });

  test("lets none come", () => {
    const metadata = { ...old.metadata, finalizers: ["a.b/c", "a.b/d"] };
    expect(fieldsOf(validateMetadataUpdate({ metadata }, old, cluster))).toEqual(["forbidden metadata.finalizers"]);
  });

  test("keeps a name that today's rule would refuse", () => {
    const metadata = { name: "OLD" };
    expect(validateMetadataUpdate({ metadata }, { metadata }, cluster)).toEqual([]);
  });

  test("refuses another uid", () => {
    const metadata = { ...old.metadata, uid: "v" };
    expect(fieldsOf(validateMetadataUpdate({ metadata }, old, cluster))).toEqual(["invalid metadata.uid"]);
  });
});
