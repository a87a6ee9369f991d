import { describe, expect, test } from "vitest";
import { node, taint } from "../../../test/support/builders.ts";
import { changesReconcile, isUninitialized } from "./predicates.ts";

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

describe("isUninitialized()", () => {
  test.each([
    { it: "kubelet's taint", taints: [taint(UNINITIALIZED, "NoSchedule", "true")], want: true },
    {
      it: "the key with any effect and value",
      taints: [taint("other"), taint(UNINITIALIZED, "NoExecute", "x")],
      want: true,
    },
    { it: "other taints", taints: [taint("node.kubernetes.io/not-ready")], want: false },
    { it: "no taint", taints: [], want: false },
  ])("is $want for $it", ({ taints, want }) => {
    expect(isUninitialized(node("a", { spec: { taints } }))).toBe(want);
  });
});

describe("changesReconcile()", () => {
  const old = node("a", { spec: { taints: [taint(UNINITIALIZED)] }, metadata: { labels: { l: "1" } } });

  test.each([
    { it: "a recreated node", now: node("a", { ...old, metadata: { ...old.metadata, uid: "other" } }) },
    { it: "a provider ID", now: node("a", { ...old, spec: { ...old.spec, providerID: "x://1" } }) },
    { it: "the taint gone", now: node("a", { ...old, spec: { taints: [] } }) },
    { it: "another label", now: node("a", { ...old, metadata: { ...old.metadata, labels: { l: "2" } } }) },
    {
      it: "another provided node IP",
      now: node("a", {
        ...old,
        metadata: { ...old.metadata, annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.1" } },
      }),
    },
    {
      it: "another record of labels",
      now: node("a", { ...old, metadata: { ...old.metadata, annotations: { "cloudwire.dev/cloud-labels": "l" } } }),
    },
    {
      it: "a declared annotation of a node that waits",
      now: node("a", { ...old, metadata: { ...old.metadata, annotations: { "acme.example.com/claim": "c" } } }),
    },
    {
      it: "the taint put on again",
      old: node("a"),
      now: node("a", { spec: { taints: [taint(UNINITIALIZED)] } }),
    },
  ])("is true for $it", ({ old: before = old, now }) => {
    expect(changesReconcile(before, now, ["acme.example.com/claim"])).toBe(true);
  });

  test.each([
    { it: "a heartbeat", now: { ...old, metadata: { ...old.metadata, resourceVersion: "2" } } },
    { it: "another annotation", now: { ...old, metadata: { ...old.metadata, annotations: { a: "b" } } } },
    { it: "another taint", now: { ...old, spec: { ...old.spec, taints: [...old.spec.taints, taint("other")] } } },
    {
      it: "a declared annotation of an initialized node",
      old: node("a"),
      now: node("a", { metadata: { annotations: { "acme.example.com/claim": "c" } } }),
    },
    { it: "other conditions", now: { ...old, status: { ...old.status, conditions: [] } } },
  ])("is false for $it", ({ old: before = old, now }) => {
    expect(changesReconcile(before, now, ["acme.example.com/claim"])).toBe(false);
  });
});
