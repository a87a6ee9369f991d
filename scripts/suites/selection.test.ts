import { describe, expect, test } from "vitest";
import { selectSuites } from "./selection.ts";

const BATCHES = [
  { suites: ["unit", "component"], tier: "quick" },
  { suites: ["system"], tier: "full" },
  { suites: ["go"], tier: "full" },
  { suites: ["soak"], tier: "long" },
] as const;
const LONG = { suites: ["soak"], command: "npm run test:long" };
const FULL = { suites: ["system", "go"], command: "npm run test:all" };
const EVERY = ["unit", "component", "system", "go"];

describe("selectSuites()", () => {
  test.each([
    ["the quick ones, and names the others", [], {}, { suites: ["unit", "component"], leftOut: [FULL, LONG] }],
    ["all but the long ones with --all", ["--all"], {}, { suites: EVERY, leftOut: [LONG] }],
    ["the same in CI, without leave to skip", [], { CI: "true" }, { suites: EVERY, leftOut: [LONG], mustRunAll: true }],
    ["the same where nothing may be skipped", [], { CLOUDWIRE_NO_SKIP: "1" }, { suites: EVERY, mustRunAll: true }],
    [
      "the long ones with --long, and records them",
      ["--long"],
      {},
      { suites: ["soak"], leftOut: [], isRecorded: true },
    ],
    [
      "what --only names, also in CI",
      ["--only", "system,unit", "--only", "soak"],
      { CI: "true" },
      { suites: ["system", "unit", "soak"], leftOut: [], mustRunAll: true },
    ],
    ["one of the long ones, recorded", ["--long", "--only", "soak"], {}, { suites: ["soak"], isRecorded: true }],
  ])("selects %s", (_sentence, args, env, selection) => {
    expect(selectSuites(args, env, BATCHES)).toMatchObject({ mustRunAll: false, isRecorded: false, ...selection });
  });

  test.each([
    ["is unknown", ["--only", "unit,sistem"], 'no suite "sistem"; the suites are: unit, component, system, go, soak'],
    ["is not recorded", ["--long", "--only", "unit"], 'no suite "unit"; the suites are: soak'],
  ])("refuses a suite that %s", (_sentence, args, message) => {
    expect(() => selectSuites(args, {}, BATCHES)).toThrow(message);
  });
});
