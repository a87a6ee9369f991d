import { expect, test } from "vitest";
import * as annotations from "../../src/api/annotations.ts";
import { LOAD_BALANCER_REMEDIES } from "../../src/api/load-balancer-condition.ts";
import { READY_ROWS } from "./rows/condition-rows.ts";
import { conditionsPage } from "./conditions-page.ts";

/** Read, not written: other pages document them. */
const READ_ONLY: readonly string[] = [
  annotations.PROVIDED_NODE_IP,
  annotations.LOAD_BALANCER_SOURCE_RANGES,
  annotations.INITIAL_EVENTS_END,
];

test("the page of conditions has every reason of the condition on Services once", () => {
  expect(READY_ROWS.map(({ readiness }) => readiness.reason).toSorted()).toEqual(
    Object.keys(LOAD_BALANCER_REMEDIES).toSorted(),
  );
});

test("the page of conditions has every annotation of our own", () => {
  const page = conditionsPage();
  const own = Object.values(annotations).filter((name) => !READ_ONLY.includes(name));
  expect(own.filter((name) => !page.includes(name))).toEqual([]);
});
