import { expect, test } from "vitest";
import type { TargetNode } from "../definition/requests.ts";
import { AcknowledgedNodes } from "./acknowledged-nodes.ts";

const node = (name: string): TargetNode => ({ name, providerId: `acme://${name}`, addresses: [], labels: {} });
const [a, b, c] = [node("a"), node("b"), node("c")];

test("AcknowledgedNodes.diff() returns what differs from the nodes of each load balancer", () => {
  const known = new AcknowledgedNodes(() => 0);
  known.set("one", { fingerprint: "ab", nodes: [a, b] });
  known.set("two", { fingerprint: "c", nodes: [c] });
  const after = [b, c];
  expect(known.diff("one", after)).toEqual({ added: [c], removed: [a], changed: [] });
  expect(known.diff("two", after)).toEqual({ added: [b], removed: [], changed: [] });
  expect(known.diff("three", after)).toBeUndefined();
  expect(known.diff("one", [a, b])).toEqual({ added: [], removed: [], changed: [] });
});

test("AcknowledgedNodes.diff() works out once what many load balancers have in common", () => {
  const known = new AcknowledgedNodes(() => 0);
  for (const key of ["one", "two"]) known.set(key, { fingerprint: "ab", nodes: [a, b] });
  const after = [b, c];
  const first = known.diff("one", after);
  expect(known.diff("two", after)).toBe(first);
  known.set("one", { fingerprint: "bc", nodes: after });
  expect(known.diff("one", after)).toEqual({ added: [], removed: [], changed: [] });
  expect(known.diff("two", after)).toBe(first);
});
