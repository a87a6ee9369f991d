import { describe, expect, test } from "vitest";
import { recordingText } from "../../test/recordings.ts";
import { expected, parseExpectation } from "./expectation.ts";
import { readRecording } from "./recording.ts";

describe("parseExpectation()", () => {
  test.each([
    ['12:code="OK"', { call: 12, path: ["code"], value: "OK" }],
    [
      "3:loadBalancer.ingress.items[0].ports[1]={}",
      { call: 3, path: ["loadBalancer", "ingress", "items", 0, "ports", 1], value: {} },
    ],
    ["3:done=null", { call: 3, path: ["done"], value: null }],
    ["code=1", undefined],
    ["1:a=b", undefined],
    ["1:a..b=1", undefined],
    ['1:code="GOOD"', undefined],
    ["1:code=OK", undefined],
  ])("%s is %j", (text, wanted) => {
    expect(parseExpectation(text)).toEqual(wanted);
  });
});

describe("expected()", () => {
  const text = recordingText([{ method: "DeleteLoadBalancer", response: { done: true, remaining: ["a"] } }]);
  const [call] = readRecording("f", text).calls;

  test.each([
    ["1:done=false", { code: "OK", response: { done: false, remaining: ["a"] } }],
    ["1:done=null", { code: "OK", response: { remaining: ["a"] } }],
    ['1:remaining[1]="b"', { code: "OK", response: { done: true, remaining: ["a", "b"] } }],
    ['1:operation.id="o"', { code: "OK", response: { done: true, remaining: ["a"], operation: { id: "o" } } }],
    ['1:code="UNAVAILABLE"', { code: "UNAVAILABLE", response: undefined }],
    ["2:done=false", { code: "OK", response: { done: true, remaining: ["a"] } }],
  ])("with %s has another end", (written, end) => {
    const expectation = parseExpectation(written);
    expect(call && expectation && expected(call, [expectation]).end).toMatchObject(end);
  });
});
