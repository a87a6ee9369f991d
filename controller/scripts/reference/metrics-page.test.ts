import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { OF_FAMILY } from "./rows/metric-labels.ts";
import { METRIC_PARTS } from "./rows/metric-parts.ts";
import { DIFFERENCES, UPSTREAM_FAMILIES } from "../upstream-metrics.ts";

const SOURCES = new URL("../../src/", import.meta.url).pathname;

/** A family made in a source, by its literal name; another name is caught as such. */
const MADE = /\.(?:counter|gauge|histogram)\(\{\s*name: ("[^"]+"|[^,\n]+)/g;

const TOP = new URL("../../../", import.meta.url).pathname;

/** A family of ours in a text or a query. */
const NAMED = /\b(?:cloudwire|leader_election|workqueue|kubernetes_healthcheck)_?[a-z_]*[a-z]\b(?=[`{[) ])/g;

/** The Python SDK's package, which looks like a metric. */
const PYTHON_PACKAGE = "cloudwire_provider";

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

  test("has every family that other pages speak of", () => {
    const known = new Set(
      families.flatMap(({ name, kind }) => (kind === "histogram" ? [name, `${name}_count`] : [name])),
    ).add(PYTHON_PACKAGE);
    const pages = globSync("docs/**/*.md", { cwd: TOP });
    const named = pages.flatMap((path) =>
      [...readFileSync(`${TOP}${path}`, "utf8").matchAll(NAMED)].map(([name]) => name),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(sorted(new Set(named.filter((name) => !known.has(name))))).toEqual([]);
  });

  test("says of labels only what is so", () => {
    const labels = new Set(families.flatMap(({ name, labels: own }) => own.map((label) => `${name} ${label}`)));
    const reported = Object.entries(OF_FAMILY).flatMap(([name, own]) =>
      Object.keys(own).map((label) => `${name} ${label}`),
    );
    expect(reported.filter((label) => !labels.has(label))).toEqual([]);
  });

  // Those of the process and of Node, process_* and nodejs_*, are the library's.
  test("has upstream's names and such that begin with cloudwire_, no third kind", () => {
    const upstream = new Set(UPSTREAM_FAMILIES.map(({ name }) => name));
    const ours = families.map(({ name }) => name).filter((name) => !upstream.has(name));
    expect(ours.length).toBeGreaterThan(20);
    expect(ours.filter((name) => !name.startsWith("cloudwire_"))).toEqual([]);
  });

  test("names differences only from what upstream has", () => {
    const upstream = new Set(UPSTREAM_FAMILIES.map(({ name }) => name));
    expect(Object.keys(DIFFERENCES).filter((name) => !upstream.has(name))).toEqual([]);
  });
});
