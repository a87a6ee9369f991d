import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { WAIT_REMEDIES, differs, initializeNodeDelayed, initializeNodeFailed, synced } from "./events.ts";

const regarding = { apiVersion: "v1", kind: "Node", namespace: "", name: "node-a", uid: "uid-node-a" };

test("synced() says what upstream says", () => {
  expect(synced(node("node-a"))).toEqual({
    regarding,
    type: "Normal",
    reason: "Synced",
    message: "Node synced successfully",
  });
});

test("initializeNodeFailed() says why the taint stays", () => {
  expect(initializeNodeFailed(node("node-a"), "no such machine", "absent")).toEqual({
    regarding,
    type: "Warning",
    reason: "InitializeNodeFailed",
    message: `Node is not initialized: no such machine (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.absent}`,
  });
});

test("initializeNodeDelayed() says what is waited for", () => {
  expect(initializeNodeDelayed(node("node-a"), "the cloud is away", "provider")).toEqual({
    regarding,
    type: "Warning",
    reason: "InitializeNodeDelayed",
    message: `Node is not initialized yet: the cloud is away (retrying within 5 minutes). To fix: ${WAIT_REMEDIES.provider}`,
  });
});

test.each([
  { of: ["unowned", undefined], want: "retrying when the Node or a provider changes" },
  { of: ["providerID", "FINAL"], want: "retrying when the Node or the provider changes, or in 30 minutes" },
  { of: ["provider", "WAIT"], want: "retrying when the provider allows it" },
  { of: ["provider", "OPERATOR"], want: "retrying within 5 minutes" },
] as const)("initializeNodeFailed() reports when it is retried: $want", ({ of: [reason, errorClass], want }) => {
  expect(initializeNodeFailed(node("node-a"), "why", reason, errorClass).message).toBe(
    `Node is not initialized: why (${want}). To fix: ${WAIT_REMEDIES[reason]}`,
  );
});

test.each([
  { field: "providerID", reason: "ProviderIDMismatch" },
  { field: "zone", reason: "NodeDiffersFromCloud" },
  { field: "addresses", reason: "NodeDiffersFromCloud" },
] as const)("differs() calls a difference of $field $reason", ({ field, reason }) => {
  expect(differs(node("node-a"), { field, message: "m" })).toEqual({
    regarding,
    type: "Warning",
    reason,
    message: "m",
  });
});
