import { describe, expect, test } from "vitest";
import { idOf } from "./report/compare.ts";
import { documentedIds } from "./report/page.ts";
import { sessions } from "./sessions.ts";
import { scenariosOf, slugOf } from "./suite.ts";

const scenarios = sessions.flatMap(scenariosOf);

describe("the parity scenarios", () => {
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
