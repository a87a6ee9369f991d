import { Capabilities } from "@cloudwire/proto/cloudprovider/v1/identity";
import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { fakeCheck } from "../test/fake-check.ts";
import type { Check } from "./check.ts";
import { noFixtures } from "./fixtures.ts";
import { type Selection, parsePattern, plan } from "./plan.ts";

const everything: Selection = { level: "R", profiles: [], run: [], skip: [] };
const facts = {
  capabilities: Capabilities.fromPartial({ instances: { maxBatchSize: 1 }, loadBalancers: { updateNodes: false } }),
  transport: "tcp",
  canStart: false,
  fixtures: noFixtures,
  hasHook: (name: string) => name === "cloudBlock",
} as const;

const skipOf = (check: Partial<Check>, selection: Partial<Selection> = {}) =>
  plan([fakeCheck("a.b", check)], { ...everything, ...selection }, facts).map(({ skip }) => skip?.detail);

describe("plan()", () => {
  test.each<[string, Partial<Check>, Partial<Selection>, readonly (string | undefined)[]]>([
    ["runs what nothing speaks against", {}, {}, [undefined]],
    ["runs a profile that is claimed", { profile: "instances" }, {}, [undefined]],
    ["skips a profile that is not", { profile: "routes" }, {}, ["routes is not claimed"]],
    ["skips a capability within it", { capability: "instances.list" }, {}, ["instances.list is not claimed"]],
    [
      "takes a flag that is false for no claim",
      { capability: "load_balancers.update_nodes" },
      {},
      ["load_balancers.update_nodes is not claimed"],
    ],
    ["skips what is above the level", { level: "M" }, {}, ["requires level M"]],
    ["runs what needs an action that there is", { hooks: ["cloudBlock"] }, {}, [undefined]],
    [
      "skips what needs one that there is not",
      { hooks: ["credRevoke"] },
      {},
      ["the configuration has no hook credRevoke"],
    ],
    ["skips what is about another transport", { transport: "unix" }, {}, ["requires a Unix socket"]],
    ["skips what starts providers", { starts: true }, {}, ["starts providers itself: give the kit a command after --"]],
    ["skips what lacks a fixture", { fixtures: ["instance"] }, {}, ["the configuration has no instance"]],
    ["skips what the user leaves out", {}, { skip: [parsePattern("a.b", ["a.b"])] }, ["skipped by the user"]],
    ["leaves out other profiles", {}, { profiles: ["routes"] }, []],
  ])("%s", (_name, check, selection, wanted) => {
    expect(skipOf(check, selection)).toEqual(wanted);
  });
});

describe("patterns", () => {
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
});
