import { describe, expect, test } from "vitest";
import { idOf } from "./report/compare.ts";
import { documentedIds, documentedVersions } from "./report/page.ts";
import { sessions } from "./sessions.ts";
import { scenariosOf, slugOf } from "./suite.ts";
import { readUpstreamVersion } from "./upstream/module.ts";

const scenarios = sessions.flatMap(scenariosOf);

describe("the versions on the page of differences", () => {
  test("name the compared version for all rows, and exceptions only for rows that exist (case P-1)", async () => {
    const versions = await documentedVersions();
    const { minor } = await readUpstreamVersion();
    expect(versions.get("all others")).toContain(minor.replace("1.", "v0."));
    const documented = await documentedIds();
    const named = [...versions.keys()].filter((rows) => rows !== "all others").flatMap((rows) => rows.split(", "));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((id) => !documented.has(id))).toEqual([]);
  });
});

/** Rows of case P-3: a report without evidence would not have noticed that they became untrue. */
const ONCE_UNCLAIMED = ["S10", "S15", "S17", "S27", "S31", "S37", "R5", "R16", "I5", "I6", "I7"];

describe("the parity scenarios", () => {
  test("claim the rows that once had no scenario (case P-3)", () => {
    const claimed = new Set(scenarios.flatMap(({ claims }) => claims.map(idOf)));
    expect(ONCE_UNCLAIMED.filter((id) => !claimed.has(id))).toEqual([]);
  });

  test("have names of their own, also where they are shortened", () => {
    const slugs = scenarios.map(({ name }) => slugOf(name));
    expect(slugs.filter((slug, index) => slugs.indexOf(slug) !== index)).toEqual([]);
  });

  test("are at least 60, of every controller", () => {
    const subjects = new Set(scenarios.map(({ name }) => name.split(":")[0]));
    expect([...subjects]).toEqual(
      expect.arrayContaining(["node", "refresh", "lifecycle", "service", "targets", "route", "ipam"]),
    );
    expect(scenarios.length).toBeGreaterThanOrEqual(60);
  });

  test("claim only rows of the differences page", async () => {
    const documented = await documentedIds();
    const claimed = new Set(scenarios.flatMap(({ claims }) => claims.map(idOf)));
    expect([...claimed].filter((id) => !documented.has(id))).toEqual([]);
  });
});
