import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { OF_FAMILY } from "./metric-labels.ts";
import { METRIC_PARTS } from "./metric-parts.ts";
import { DIFFERENCES, UPSTREAM_FAMILIES } from "./upstream-metrics.ts";

const SOURCES = new URL("../../src/", import.meta.url).pathname;

/** A family made in a source, by its literal name; another name is caught as such. */
const MADE = /\.(?:counter|gauge|histogram)\(\{\s*name: ("[^"]+"|[^,\n]+)/g;

const families = METRIC_PARTS.flatMap((part) => part.families);
const sorted = (names: Iterable<string>): readonly string[] => [...names].toSorted();

describe("the page of metrics", () => {
  test("has every family that a source of the controller makes, and no other", () => {
    const sources = globSync("**/*.ts", { cwd: SOURCES }).filter((path) => !path.endsWith(".test.ts"));
    const made = sources.flatMap((path) =>
      [...readFileSync(`${SOURCES}${path}`, "utf8").matchAll(MADE)].map(([, name = ""]) => name.replaceAll('"', "")),
    );
    expect(sorted(families.map(({ name }) => name))).toEqual(sorted(made));
  });

  test("says of labels only what is so", () => {
    const labels = new Set(families.flatMap(({ name, labels: own }) => own.map((label) => `${name} ${label}`)));
    const told = Object.entries(OF_FAMILY).flatMap(([name, own]) =>
      Object.keys(own).map((label) => `${name} ${label}`),
    );
    expect(told.filter((label) => !labels.has(label))).toEqual([]);
  });

  test("names differences only from what upstream has", () => {
    const upstream = new Set(UPSTREAM_FAMILIES.map(({ name }) => name));
    expect(Object.keys(DIFFERENCES).filter((name) => !upstream.has(name))).toEqual([]);
  });
});
