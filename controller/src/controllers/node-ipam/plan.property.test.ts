import { describe, expect, test } from "vitest";
import { breaksIgnoring, breaksSplitting, breaksSymmetry } from "../../../test/support/predicate-properties.ts";
import { changesNeed } from "./plan.ts";

describe("changesNeed()", () => {
  test("is false for what ranges do not depend on", () => {
    const inMetadata = ["version", "labels", "annotations"] as const;
    const parts = [...inMetadata, "unschedulable", "taints", "addresses", "conditions", "nodeInfo"] as const;
    expect(breaksIgnoring(changesNeed, parts)).toBeNull();
  });

  test("is the same in either direction", () => {
    expect(breaksSymmetry(changesNeed)).toBeNull();
  });

  test("loses nothing of a change reported in two steps", () => {
    expect(breaksSplitting(changesNeed)).toBeNull();
  });
});
