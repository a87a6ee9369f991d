import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { differs, initializeNodeDelayed, initializeNodeFailed, synced } from "./events.ts";

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
  expect(initializeNodeFailed(node("node-a"), "no such machine")).toEqual({
    regarding,
    type: "Warning",
    reason: "InitializeNodeFailed",
    message: "Node is not initialized: no such machine",
  });
});

test("initializeNodeDelayed() says what is waited for", () => {
  expect(initializeNodeDelayed(node("node-a"), "the cloud is away")).toEqual({
    regarding,
    type: "Warning",
    reason: "InitializeNodeDelayed",
    message: "Node is not initialized yet: the cloud is away",
  });
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
