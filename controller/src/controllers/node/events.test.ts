import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { initializeNodeFailed, synced } from "./events.ts";

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
