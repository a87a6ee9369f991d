import { expect, test } from "vitest";
import { likelyNames } from "./likely-names.ts";

test.each([
  ["wroker-1", ["worker-1", "master-1"], ["worker-1"]],
  ["default/web", ["shop/web", "shop/webb", "test/web"], ["shop/web", "test/web"]],
  ["shop/wbe", ["shop/web", "default/api"], ["shop/web"]],
  ["ip-10-0-0-7", ["ip-10-0-0-7.eu.internal", "ip-10-0-0-8.eu.internal"], ["ip-10-0-0-7.eu.internal"]],
  ["default/web", ["a/web", "b/web", "c/web", "d/web"], ["a/web", "b/web", "c/web"]],
  ["eu-17", ["eu-1-7", "eu-1"], ["eu-1-7"]],
  ["m7", ["m-7"], ["m-7"]],
  ["workker-01", ["worker-1"], ["worker-1"]],
  ["worker-1", ["workr1x", "wrker1y"], []],
  ["b", ["c"], []],
  ["anything-else", ["worker-1"], []],
  ["worker-1", [], []],
])("likelyNames() of %s among %j are %j", (name, known, wanted) => {
  expect(likelyNames(name, known)).toEqual(wanted);
});
