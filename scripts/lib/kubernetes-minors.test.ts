import { expect, test } from "vitest";
import { parseOtherMinors } from "./kubernetes-minors.ts";

test("parseOtherMinors() leaves out the default minor, on which every suite runs", () => {
  const text = JSON.stringify({ default: "1.40", minors: { "1.40": {}, "1.39": {}, "1.38": {} } });
  expect(parseOtherMinors(text)).toEqual(["1.38", "1.39"]);
});

test("parseOtherMinors() rejects a file without minors", () => {
  expect(() => parseOtherMinors("{}")).toThrow("test/control-plane/versions.json: minors must be an object");
});
