import { describe, expect, test } from "vitest";
import { breaksIgnoring, breaksSplitting } from "../../../test/support/predicate-properties.ts";
import type { Node } from "../../api/node.ts";
import { changesReconcile } from "./predicates.ts";

describe("changesReconcile()", () => {
  const changes = (old: Node, node: Node): boolean => changesReconcile(old, node, ["other"]);

  test("is false for whatever kubelets and other controllers report", () => {
    const parts = ["version", "deletion", "podCIDRs", "unschedulable", "addresses", "conditions", "nodeInfo"] as const;
    expect(breaksIgnoring(changes, parts)).toBeNull();
  });

  test("loses nothing of a change reported in two steps", () => {
    expect(breaksSplitting(changes)).toBeNull();
  });
});
