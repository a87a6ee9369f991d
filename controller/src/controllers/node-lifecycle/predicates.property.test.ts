import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyNode, withParts } from "../../../test/support/node/node-arbitraries.ts";
import { breaksIgnoring, breaksSplitting } from "../../../test/support/predicate-properties.ts";
import { instance } from "../../../test/support/builders.ts";
import type { Node } from "../../api/node.ts";
import type { InstanceResult, InstanceState } from "../../provider/model/instance.ts";
import { deepEqual } from "../../util/equal.ts";
import type { GuardInput } from "./guard/guard.ts";
import { plan } from "./plan.ts";
import { changesReconcile, isBeingScaledDown, isProtected, isApproved, needsLookup } from "./predicates.ts";

const RUNS = { numRuns: 1000 };
const NOW_MS = 400_000;
const WITNESS = { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: NOW_MS };
const ABSENT: InstanceResult = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: NOW_MS,
  strong: true,
  witness: WITNESS,
};
const present = (state: InstanceState): InstanceResult => ({
  kind: "present",
  instance: instance({ state }),
  readTimeMs: NOW_MS,
  witness: WITNESS,
});

/** What is to be done about the Node, and how it counts, if the cloud says that. */
function decisionOf(node: Node, answer: InstanceResult): unknown {
  const reading = (atMs: number) => ({ observeTimeMs: atMs, heardAtMs: atMs });
  const facts: GuardInput = {
    absences: { witness: WITNESS, count: 2, first: reading(100_000), last: reading(NOW_MS), conclusive: false },
    provider: { name: "acme", scopeId: "s", bootId: "b", untrustedReason: undefined, ...NO_FAILURE },
    circuitBreaker: {
      gone: 9,
      nodes: 9,
      isUnknown: false,
      maxPercent: 10,
      exempt: isApproved(node) || isBeingScaledDown(node),
    },
    isProtected: isProtected(node),
    rules: {
      confirmations: 2,
      spanMs: 30_000,
      minAgeMs: 60_000,
      settleMs: 5000,
      freezeMs: 60_000,
      deletesNothing: false,
    },
    createdMs: 0,
    nowMs: NOW_MS,
    monotonicMs: NOW_MS,
  };
  const lookup = needsLookup(node) ? { result: answer, facts, reportsShutdown: true } : undefined;
  const planned = plan({ node, lookup, tooNewForMs: 0 }, NOW_MS);
  // Marks of a Node that is not Ready follow the looks that it gets anyway.
  return { ...planned, node: undefined, ...(planned.kind === "exists" ? { needsPatch: undefined } : {}) };
}

const NO_FAILURE = { existenceConsistencyDelayMs: 0, failedAtMs: undefined, contradictedAtMs: undefined };

describe("changesReconcile()", () => {
  test("is false for what the controller does not go by", () => {
    const inSpec = ["providerID", "podCIDRs", "unschedulable"] as const;
    const parts = ["version", "deletion", "labels", ...inSpec, "addresses", "nodeInfo"] as const;
    expect(breaksIgnoring(changesReconcile, parts)).toBeNull();
  });

  test("is true for every change after which something else is to be done, but for a deletion by another client", () => {
    let different = 0;
    const answers = fc.constantFrom(ABSENT, present("running"), present("stopped"), present("pending"));
    fc.assert(
      fc.property(anyNode, anyNode, answers, (old, changed, answer) => {
        const node = withParts(changed, old, ["deletion"]);
        const isSame = deepEqual(decisionOf(old, answer), decisionOf(node, answer));
        different += isSame ? 0 : 1;
        expect(isSame || changesReconcile(old, node)).toBe(true);
      }),
      RUNS,
    );
    expect(different).toBeGreaterThan(100);
  });

  test("loses nothing of a change reported in two steps", () => {
    expect(breaksSplitting(changesReconcile)).toBeNull();
  });

  test("is true for every Node that comes to need a lookup, and for every one that needs none any more", () => {
    fc.assert(
      fc.property(anyNode, anyNode, (old, node) => {
        expect(needsLookup(old) === needsLookup(node) || changesReconcile(old, node)).toBe(true);
      }),
      RUNS,
    );
  });
});
