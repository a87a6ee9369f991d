import { describe, expect, test } from "vitest";
import { known, loadBalancer, unverified } from "../../../../test/support/service/service-plan-builders.ts";
import { type Baseline, UNVERIFIED } from "../record/record.ts";
import { baselineAfter, isChangedBefore } from "./baseline.ts";

const of = (fingerprint: string): Baseline => ({ kind: "verified", fingerprint });
const seen = { ...known, baseline: of("a") };

describe("baselineAfter()", () => {
  test.each([
    {
      it: "an Ensure, which compares everything",
      call: "ensure",
      inForce: unverified,
      after: ["b", ""],
      want: of("b"),
    },
    { it: "an Ensure of a new one", call: "ensure", inForce: undefined, after: ["b", ""], want: of("b") },
    { it: "an update from the known state", call: "updateNodes", inForce: seen, after: ["b", "a"], want: of("b") },
    {
      it: "an update that the fingerprint leaves out",
      call: "updateNodes",
      inForce: seen,
      after: ["a", ""],
      want: of("a"),
    },
    { it: "an update from another state", call: "updateNodes", inForce: seen, after: ["c", "b"], want: UNVERIFIED },
    {
      it: "an update from a state not reported",
      call: "updateNodes",
      inForce: seen,
      after: ["b", ""],
      want: UNVERIFIED,
    },
    { it: "an update of one only read", call: "updateNodes", inForce: unverified, after: ["b", "b"], want: UNVERIFIED },
    { it: "an update without fingerprints", call: "updateNodes", inForce: known, after: ["", ""], want: of("") },
    {
      it: "an update whose provider now has one",
      call: "updateNodes",
      inForce: known,
      after: ["b", ""],
      want: UNVERIFIED,
    },
  ] as const)(
    "$it (case S-12)",
    ({ call, inForce, after: [observedFingerprint, previousObservedFingerprint], want }) => {
      const after = loadBalancer({ observedFingerprint, previousObservedFingerprint });
      expect(baselineAfter({ call, inForce, isRepeated: false }, after)).toEqual(want);
      expect(baselineAfter({ call, inForce, isRepeated: true }, after)).toEqual(UNVERIFIED);
    },
  );
});

test.each([
  { before: of("a"), previous: "b", want: true },
  { before: of("a"), previous: "a", want: false },
  { before: of("a"), previous: "", want: false },
  { before: UNVERIFIED, previous: "b", want: false },
  { before: undefined, previous: "b", want: false },
])("isChangedBefore() is $want for $before.kind and $previous", ({ before, previous, want }) => {
  expect(isChangedBefore(before, loadBalancer({ previousObservedFingerprint: previous }))).toBe(want);
});
