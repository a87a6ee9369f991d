import { describe, expect, test } from "vitest";
import { allChecks } from "../checks/registry.ts";
import { negativeBaselines } from "./negative-baselines.ts";
import { namedFaults, unprovenChecks } from "./mutants.ts";

const ids = new Set(allChecks.map(({ id }) => id));
const names = [...namedFaults, ...negativeBaselines].map(({ name }) => name);

describe("namedFaults", () => {
  test("have names of their own, which can be given on a command line", () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^[A-Za-z0-9-]+$/.test(name))).toEqual([]);
  });

  test("make checks fail that there are, each once", () => {
    const wrong = namedFaults.flatMap(({ name, fails }) =>
      fails.filter((id, index) => !ids.has(id) || fails.indexOf(id) !== index).map((id) => `${name}: ${id}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("unprovenChecks()", () => {
  test("there is none: each check that counts is failed by a fault", () => {
    expect(unprovenChecks()).toEqual([]);
  });
});
