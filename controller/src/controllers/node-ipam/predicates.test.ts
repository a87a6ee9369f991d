import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { changesNeed, needsRanges } from "./predicates.ts";

const RANGED = { spec: { podCIDRs: ["10.0.0.0/24"] } };
const GOING = { metadata: { deletionTimestampMs: 1 } };

describe("needsRanges()", () => {
  test.each([
    { sentence: "a Node without ranges", parts: {}, wanted: true },
    { sentence: "not one with ranges", parts: RANGED, wanted: false },
    { sentence: "not one that is going", parts: GOING, wanted: false },
  ])("is for $sentence", ({ parts, wanted }) => {
    expect(needsRanges(node("a", parts))).toBe(wanted);
  });
});

describe("changesNeed()", () => {
  test.each([
    { sentence: "not a heartbeat", old: {}, now: { metadata: { resourceVersion: "2" } }, wanted: false },
    { sentence: "ranges that came", old: {}, now: RANGED, wanted: true },
    { sentence: "a deletion that began", old: {}, now: GOING, wanted: true },
    {
      sentence: "not another ID of a Node with ranges",
      old: RANGED,
      now: { spec: { ...RANGED.spec, providerID: "acme://1" } },
      wanted: false,
    },
    { sentence: "a provider ID that came", old: {}, now: { spec: { providerID: "acme://1" } }, wanted: true },
    { sentence: "another Node of the same name", old: {}, now: { metadata: { uid: "other" } }, wanted: true },
  ])("is: $sentence", ({ old, now, wanted }) => {
    expect(changesNeed(node("a", old), node("a", now))).toBe(wanted);
  });
});
