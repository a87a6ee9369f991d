import { describe, expect, test } from "vitest";
import { breaksIgnoring, breaksSplitting, breaksSymmetry } from "../../../test/support/predicate-properties.ts";
import { changesInstance } from "./predicates.ts";

describe("changesInstance()", () => {
  test("is false for whatever says nothing of the machine", () => {
    const inMetadata = ["version", "deletion", "labels", "annotations"] as const;
    const parts = [...inMetadata, "podCIDRs", "unschedulable", "taints", "conditions", "nodeInfo"] as const;
    expect(breaksIgnoring(changesInstance, parts)).toBeNull();
  });

  test("is the same in either direction", () => {
    expect(breaksSymmetry(changesInstance)).toBeNull();
  });

  test("loses nothing of a change reported in two steps", () => {
    expect(breaksSplitting(changesInstance)).toBeNull();
  });
});
