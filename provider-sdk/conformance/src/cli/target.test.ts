import { describe, expect, test } from "vitest";
import { folded, withoutStack } from "./target.ts";

describe("folded()", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["keeps lines that differ", ["one", "two"], ["one", "two"]],
    [
      "counts lines that differ by their time and the ids of their calls alone",
      [
        '{"time":"00:01","message":"failed","requestID":"a"}',
        "ready",
        '{"time":"00:02","message":"failed","requestID":"b"}',
        '{"time": "00:03","message":"failed","requestID": "c"}',
      ],
      ["ready", '(3 times) {"time": "00:03","message":"failed","requestID": "c"}'],
    ],
    [
      "counts lines with another uuid in their text",
      ["details under 2ac877c7-b8e3-4286-ade6-ce7b43495ce1", "details under d190f153-fb6f-4ddd-a26c-3f43e897f4bb"],
      ["(2 times) details under d190f153-fb6f-4ddd-a26c-3f43e897f4bb"],
    ],
    ["leaves what was said last at the end, however early it was said first", ["a", "b", "a"], ["b", "(2 times) a"]],
  ])("%s", (_name, lines, wanted) => {
    expect(folded(lines)).toEqual(wanted);
  });
});

test("withoutStack() leaves what comes behind a stack, the causes above all", () => {
  const error = { message: "late", stack: 'Error: "late"\n    at a.ts:1', cause: { message: "HTTP 404", stack: "\\" } };
  expect(JSON.parse(withoutStack(JSON.stringify({ error })))).toEqual({
    error: { message: "late", cause: { message: "HTTP 404" } },
  });
});
