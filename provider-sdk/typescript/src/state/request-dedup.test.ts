import { expect, test } from "vitest";
import { RequestDedup } from "./request-dedup.ts";

test("RequestDedup.keyOf() gives the same key when all hints are the same", () => {
  const questions = new RequestDedup<{ readonly name: string; readonly hints: readonly string[] }>();
  const asked = [
    { name: "n1", hints: ["a"] },
    { name: "n2", hints: ["a"] },
    { name: "n1", hints: ["b"] },
    { name: "n1", hints: ["a"] },
    { name: "n1", hints: ["b"] },
    { name: "1 n1", hints: [] },
  ];
  const keys = asked.map((question) => questions.keyOf(question));
  const firsts = keys.map((key) => keys.indexOf(key));
  expect(firsts).toEqual([0, 1, 2, 0, 2, 5]);
});
