import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { counter, gauge, OF_JOB } from "./alert.ts";
import { ALERT_GROUPS, ALERTS } from "./alerts.ts";
import { metricReference } from "./metric-reference.ts";
import { problemsOf } from "./promql.ts";
import { ruleFile, trialFile } from "./rule-files.ts";

const page = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}.md`, import.meta.url), "utf8");

const reference = metricReference(page("metrics"), page("conditions"));

test("alerts have unique names", () => {
  expect(new Set(ALERTS.map(({ name }) => name)).size).toBe(ALERTS.length);
});

describe.each(ALERTS)("$name", ({ name, expr, summary, description, trial }) => {
  test("selects metrics, labels and values that exist", () => {
    expect(problemsOf(expr, reference)).toEqual([]);
  });

  test("is tried on series that exist", () => {
    const series = Object.keys(trial.series).map((id) => id.replace("{", `{${OF_JOB},`));
    expect(series.flatMap((id) => problemsOf(id, reference))).toEqual([]);
  });

  test("is tried on metrics that it selects", () => {
    expect(Object.keys(trial.series).filter((series) => !expr.includes(series.slice(0, series.indexOf("{"))))).toEqual(
      [],
    );
  });

  test("has a name, a summary and a description", () => {
    expect(name).toMatch(/^Cloudwire[A-Z][A-Za-z]+$/);
    expect(summary).toMatch(/^[^{}]{10,90}\.$/);
    expect(description.length).toBeGreaterThan(100);
    expect(description).toMatch(/\.$/);
  });

  test("names every label that distinguishes its alerts", () => {
    const named = [...description.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(Object.keys(trial.labels).filter((label) => !named.includes(label))).toEqual([]);
  });
});

test("gauge() and counter() write a value a minute", () => {
  expect(gauge([1, 3], [0, 1])).toBe("1+0x2 0+0x0");
  expect(counter([0, 2], [5, 3])).toBe("0 0+0x1 5+5x2");
});

test("ruleFile() gives each alert its runbook, and no duration if it fires immediately", () => {
  const group = { name: "one", title: "One", alerts: ALERTS.filter(({ name }) => name === "CloudwireControllerPanic") };
  const text = ruleFile([group]);
  expect(text).toContain("runbook_url: docs/runbooks/CloudwireControllerPanic.md");
  expect(text).not.toContain("for:");
});

test("trialFile() rejects a trial without a value for a template", () => {
  const [first] = ALERTS;
  if (first === undefined) throw new Error("there are no alerts");
  const broken = { ...first, description: "{{ $labels.nowhere }}" };
  expect(() => trialFile([{ name: "one", title: "One", alerts: [broken] }], "alerts.yaml")).toThrow("nowhere");
});

test("trialFile() tries each alert before, in and after its fault", () => {
  const text = trialFile(ALERT_GROUPS, "alerts.yaml");
  for (const { name, forMinutes } of ALERTS)
    expect(text.split(`alertname: ${name}\n`)).toHaveLength(forMinutes === 0 ? 4 : 5);
});
