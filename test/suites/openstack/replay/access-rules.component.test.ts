import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readRecording } from "./recordings.ts";
import { scenarios } from "./scenarios/all.ts";

const readme = new URL("../../../../providers/openstack/README.md", import.meta.url);

interface Rule {
  readonly text: string;
  readonly fits: RegExp;
}

/** Rows of the README's table: `| compute | GET | `/v2.1/servers/{id}` |`; one rule for each method. */
function rulesIn(text: string): readonly Rule[] {
  const rows = text.matchAll(/^\| ([a-z-]+) \| ([A-Z, ]+) \| `(\/[^`]+)` \|$/gm);
  return [...rows].flatMap(([, service = "", methods = "", path = ""]) =>
    methods.split(", ").map((method) => {
      const ask = `${method} /${service}${path}`;
      return { text: ask, fits: new RegExp(`^${ask.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`) };
    }),
  );
}

// An application credential with these rules can do exactly what the provider does.
test("the README's access rules are what the provider asked for when it was recorded", async () => {
  const recordings = await Promise.all(scenarios.map(readRecording));
  const asked = recordings
    .flatMap(({ steps }) => steps.flatMap(({ exchanges }) => exchanges.map(({ ask }) => ask.split("?")[0] ?? "")))
    .filter((ask) => !ask.includes(" /identity/"));
  const rules = rulesIn(await readFile(readme, "utf8"));
  expect(asked.filter((ask) => !rules.some(({ fits }) => fits.test(ask)))).toEqual([]);
  // "/servers/detail" fits "/servers/{id}" too: a rule counts for what no rule before it names.
  const used = new Set(asked.map((ask) => rules.find(({ fits }) => fits.test(ask))?.text));
  expect(rules.map(({ text }) => text).filter((text) => !used.has(text))).toEqual([]);
  expect(rules.length).toBeGreaterThan(20);
});
