import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { parsePattern } from "./patterns.ts";

const ids = ["err.frame.garbage", "err.frame.oversize", "err.info.present", "err.no-unknown", "list.scope"];

describe("parsePattern()", () => {
  test.each([
    ["err.frame.garbage", ["err.frame.garbage"]],
    ["err.*", ["err.no-unknown"]],
    ["err.frame.*", ["err.frame.garbage", "err.frame.oversize"]],
    ["err.**", ["err.frame.garbage", "err.frame.oversize", "err.info.present", "err.no-unknown"]],
    ["err.frame.garbage.**", ["err.frame.garbage"]],
    ["**.scope", ["list.scope"]],
    ["**", ids],
  ])("%s matches %j", (text, wanted) => {
    expect(ids.filter((id) => parsePattern(text, ids).matches(id))).toEqual(wanted);
  });

  test.each(["", "err.", "err.fr*me", "nothing.*", "err/frame", ".."])('refuses "%s"', (text) => {
    expect(() => parsePattern(text, ids)).toThrow(UsageError);
  });

  test.each([
    ["list.*.*", 'no check matches "list.*.*"; all of list are "list.**"'],
    ["nothing.*", 'no check matches "nothing.*"; ids begin with err, list; see: cloudwire-conformance list'],
  ])("says what to write in the place of %s", (text, message) => {
    expect(() => parsePattern(text, ids)).toThrow(message);
  });
});
