import fc from "fast-check";
import type { Node } from "../../src/api/node.ts";
import { anyNode, type NodePart, withParts } from "./node/node-arbitraries.ts";

/** Whether a change of a Node triggers a reconcile. */
type Changes = (old: Node, node: Node) => boolean;

/** Two Nodes that break the law, or three; null: there are none among a thousand. */
type Broken = readonly Node[] | null;

const RUNS = { numRuns: 1000 };

/** Changes of nothing but these parts call for no work. */
export function breaksIgnoring(changes: Changes, parts: readonly NodePart[]): Broken {
  const law = fc.property(anyNode, anyNode, (old, other) => !changes(old, withParts(old, other, parts)));
  return fc.check(law, RUNS).counterexample;
}

/** A change that triggers a reconcile also does so in two steps: in the first, the second or both. */
export function breaksSplitting(changes: Changes): Broken {
  const law = fc.property(anyNode, anyNode, anyNode, (old, between, node) => {
    return !changes(old, node) || changes(old, between) || changes(between, node);
  });
  return fc.check(law, RUNS).counterexample;
}

/** A change and its undoing call for work alike. */
export function breaksSymmetry(changes: Changes): Broken {
  return fc.check(
    fc.property(anyNode, anyNode, (old, node) => changes(old, node) === changes(node, old)),
    RUNS,
  ).counterexample;
}
