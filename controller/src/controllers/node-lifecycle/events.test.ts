import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { deletingNode, deletingNodeFailed, nodeDeletionDelayed } from "./events.ts";
import type { Delay } from "./guard/guard.ts";

const regarding = { apiVersion: "v1", kind: "Node", namespace: "", name: "node-a", uid: "uid-node-a" };
const delay = (reason: Delay["reason"]): Delay => ({
  kind: "delayed",
  reason,
  message: "why it stays",
  endsInMs: undefined,
});

test.each([
  {
    it: "deletingNode() says what upstream says",
    event: deletingNode(node("node-a")),
    type: "Normal",
    reason: "DeletingNode",
    message: "Deleting node node-a because it does not exist in the cloud provider",
  },
  {
    it: "deletingNodeFailed() says what upstream says",
    event: deletingNodeFailed(node("node-a"), "forbidden"),
    type: "Warning",
    reason: "DeletingNodeFailed",
    message: "Failed deleting node node-a: forbidden",
  },
  {
    it: "nodeDeletionDelayed() says why",
    event: nodeDeletionDelayed(node("node-a"), delay("providerUntrusted")),
    type: "Warning",
    reason: "NodeDeletionDelayed",
    message:
      "Node is not deleted: why it stays (re-evaluated automatically). To fix: check that the provider is healthy",
  },
  {
    it: "nodeDeletionDelayed() explains how to approve the deletion",
    event: nodeDeletionDelayed(node("node-a"), delay("tooManyNodeDeletions")),
    type: "Warning",
    reason: "TooManyNodeDeletions",
    message:
      "Node is not deleted: why it stays. If the instances no longer exist, approve the deletion: kubectl annotate node node-a cloudwire.dev/approve-deletion=true",
  },
])("$it", ({ event, type, reason, message }) => {
  expect(event).toEqual({ regarding, type, reason, message });
});
