import { describe, expect, test } from "vitest";
import { checkAccounted, endProblem, type Evidence, freshnessProblem, missProblem } from "./evidence.ts";

const strong: Evidence = { consistency: "strong", observedAt: "2026-01-01T00:00:00.000Z", unreachable: { zones: [] } };
const eventual: Evidence = { ...strong, consistency: "eventual" };
const outage: Evidence = { ...strong, unreachable: { zones: ["north-a", "north-b"] } };
const missing = { ids: [], names: [] };

describe("missProblem()", () => {
  test.each([
    ["a strong answer that says what is missing proves it", { ...strong, missing }, undefined],
    ["a replica proves nothing", { ...eventual, missing }, "INCOMPLETE_ANSWER"],
    ["an answer that names nothing proves nothing", strong, "INCOMPLETE_ANSWER"],
    ["an outage hides", { ...outage, missing }, "ZONE_UNREACHABLE"],
  ])("%s", (_, lookup, reason) => {
    expect(missProblem(lookup)?.reason).toBe(reason);
  });

  test("names the zones", () => {
    expect(missProblem(outage)?.metadata).toEqual({ zone: "north-a,north-b" });
  });
});

test.each([
  [["a", "b"], undefined],
  [["b"], "INCOMPLETE_ANSWER"],
  [[], "INCOMPLETE_ANSWER"],
])("checkAccounted() of %j for a is %s", (named, reason) => {
  expect(checkAccounted(named, "a")?.reason).toBe(reason);
});

test.each([
  ["complete", { ...strong, complete: true }, undefined],
  ["without its last word", strong, "INCOMPLETE_ANSWER"],
  ["that says it is not complete", { ...strong, complete: false }, "INCOMPLETE_ANSWER"],
  ["with an outage", { ...outage, complete: true }, "ZONE_UNREACHABLE"],
])("endProblem() of a list %s is %s", (_, page, reason) => {
  expect(endProblem(page)?.reason).toBe(reason);
});

test.each([
  ["strong, however old", strong, 0, 3_600_000, undefined],
  ["eventual and young enough", eventual, 30_000, 30_000, undefined],
  ["eventual and too old", eventual, 30_000, 30_001, "INCOMPLETE_ANSWER"],
  ["eventual when now is asked for", eventual, 0, 1, "INCOMPLETE_ANSWER"],
])("freshnessProblem() of data that is %s", (_, evidence, maxDataAgeMs, ageMs, reason) => {
  const nowMs = Date.parse(evidence.observedAt) + ageMs;
  expect(freshnessProblem(evidence, maxDataAgeMs, nowMs)?.reason).toBe(reason);
});
