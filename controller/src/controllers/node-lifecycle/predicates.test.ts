import { describe, expect, test } from "vitest";
import { CREATED_MS, node, type NodeParts, taint } from "../../../test/support/builders.ts";
import { NETWORK_UNAVAILABLE, READY } from "../../api/node.ts";
import {
  changesReconcile,
  isBeingScaledDown,
  isReady,
  isApproved,
  isShutDown,
  needsLookup,
  notReadySinceMs,
} from "./predicates.ts";

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
const APPROVAL = "cloudwire.dev/approve-deletion";
const NEVER: NodeParts = { status: { conditions: [] } };

const conditions = (status: string, lastTransitionTimeMs = 7000) => ({
  conditions: [
    { type: NETWORK_UNAVAILABLE, status: "False", lastTransitionTimeMs: 1, reason: "" },
    { type: READY, status, lastTransitionTimeMs, reason: "" },
  ],
});
const lost: NodeParts = { status: conditions("Unknown") };

describe("isReady()", () => {
  test.each([
    { it: "True", parts: { status: conditions("True") }, want: true },
    { it: "False", parts: { status: conditions("False") }, want: false },
    { it: "Unknown", parts: lost, want: false },
    { it: "a word of a newer server", parts: { status: conditions("Maybe") }, want: false },
    { it: "no condition", parts: NEVER, want: false },
  ])("is $want for $it", ({ parts, want }) => {
    expect(isReady(node("a", parts))).toBe(want);
  });
});

describe("notReadySinceMs()", () => {
  test.each([
    { it: "the last change of the condition", parts: lost, want: 7000 },
    { it: "the creation where there is none", parts: NEVER, want: CREATED_MS },
  ])("is $it", ({ parts, want }) => {
    expect(notReadySinceMs(node("a", parts))).toBe(want);
  });
});

describe("marks", () => {
  test.each([
    { it: "the taint", taints: [taint(SHUTDOWN)], want: true },
    { it: "the taint with any value", taints: [taint(SHUTDOWN, "NoSchedule", "x")], want: true },
    { it: "another effect", taints: [taint(SHUTDOWN, "NoExecute")], want: false },
    { it: "another key", taints: [taint("own")], want: false },
  ])("isShutDown() is $want for $it", ({ taints, want }) => {
    expect(isShutDown(node("a", { spec: { taints } }))).toBe(want);
  });

  test.each([
    { annotations: { [APPROVAL]: "true" }, want: true },
    { annotations: { [APPROVAL]: "false" }, want: false },
    { annotations: { [APPROVAL]: "" }, want: false },
    { annotations: {}, want: false },
  ])("isApproved() is $want for $annotations", ({ annotations, want }) => {
    expect(isApproved(node("a", { metadata: { annotations } }))).toBe(want);
  });

  test.each([
    { key: "ToBeDeletedByClusterAutoscaler", want: true },
    { key: "DeletionCandidateOfClusterAutoscaler", want: false },
  ])("isBeingScaledDown() is $want for $key", ({ key, want }) => {
    expect(isBeingScaledDown(node("a", { spec: { taints: [taint(key)] } }))).toBe(want);
  });
});

describe("needsLookup()", () => {
  test.each([
    { it: "a Ready node", parts: {}, want: false },
    { it: "one that is not", parts: lost, want: true },
    { it: "one that never was", parts: NEVER, want: true },
    { it: "a Ready node that is still marked", parts: { spec: { taints: [taint(SHUTDOWN)] } }, want: true },
    {
      it: "a Ready node that is still released",
      parts: { metadata: { annotations: { [APPROVAL]: "no" } } },
      want: true,
    },
  ])("is $want for $it", ({ parts, want }) => {
    expect(needsLookup(node("a", parts))).toBe(want);
  });
});

describe("changesReconcile()", () => {
  test.each<{ it: string; old?: NodeParts; now: NodeParts }>([
    { it: "the node is lost", old: {}, now: lost },
    { it: "the node is lost in the second in which it came", old: { status: conditions("True") }, now: lost },
    { it: "the node is back", now: {} },
    { it: "the condition changed in between", now: { status: conditions("Unknown", 8000) } },
    { it: "the node is another one", now: { ...lost, metadata: { uid: "other" } } },
    { it: "it is released", now: { ...lost, metadata: { annotations: { [APPROVAL]: "true" } } } },
    { it: "the autoscaler takes it", now: { ...lost, spec: { taints: [taint("ToBeDeletedByClusterAutoscaler")] } } },
    { it: "a Ready node is marked by an operator", old: {}, now: { spec: { taints: [taint(SHUTDOWN)] } } },
    {
      it: "a Ready node is released by an operator",
      old: {},
      now: { metadata: { annotations: { [APPROVAL]: "true" } } },
    },
  ])("is true when $it", ({ old = lost, now }) => {
    expect(changesReconcile(node("a", old), node("a", now))).toBe(true);
  });

  test.each<{ it: string; old?: NodeParts; now: NodeParts }>([
    { it: "a Ready node reports", old: {}, now: { metadata: { resourceVersion: "2" } } },
    { it: "a Ready node is labeled", old: {}, now: { metadata: { labels: { a: "b" } } } },
    { it: "a Ready node gets a provider ID", old: {}, now: { spec: { providerID: "acme://1" } } },
    {
      it: "a Ready node that is marked already reports",
      old: { spec: { taints: [taint(SHUTDOWN)] } },
      now: { spec: { taints: [taint(SHUTDOWN)] }, metadata: { resourceVersion: "2" } },
    },
    { it: "it gets a provider ID", now: { ...lost, spec: { providerID: "acme://1" } } },
    { it: "we have marked it", now: { ...lost, spec: { taints: [taint(SHUTDOWN)] } } },
    { it: "a lost node is labeled", now: { ...lost, metadata: { labels: { a: "b" } } } },
  ])("is false when $it", ({ old = lost, now }) => {
    expect(changesReconcile(node("a", old), node("a", now))).toBe(false);
  });
});
