import { describe, expect, test } from "vitest";
import { breaksIgnoring, breaksSplitting, breaksSymmetry } from "../../../test/support/predicate-laws.ts";
import { changesMachine } from "./predicates.ts";

describe("changesMachine()", () => {
  test("is false for whatever says nothing of the machine", () => {
    const inMetadata = ["version", "deletion", "labels", "annotations"] as const;
    const parts = [...inMetadata, "podCIDRs", "unschedulable", "taints", "conditions", "nodeInfo"] as const;
    expect(breaksIgnoring(changesMachine, parts)).toBeNull();
  });

  test("is the same in either direction", () => {
    expect(breaksSymmetry(changesMachine)).toBeNull();
  });

  test("loses nothing of a change told in two steps", () => {
    expect(breaksSplitting(changesMachine)).toBeNull();
  });
});
