import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { annotationSchemas, classes } from "./handlers/annotations.ts";

const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");

test("the README has every annotation with its values, and every class", () => {
  for (const name of classes) expect(readme).toContain(`\`${name}\``);
  for (const { key, allowedValues = [] } of annotationSchemas) {
    const [row = ""] = readme.split("\n").filter((line) => line.startsWith(`| \`${key}\` |`));
    expect(row).toContain(key);
    for (const value of allowedValues) expect(row).toContain(`\`${value}\``);
  }
});

test("the README has no annotation that there is not", () => {
  const known = [...classes, ...annotationSchemas.map(({ key }) => key)];
  const named = readme.match(/baremetal\.cloudwire\.dev\/[a-z-]+/g) ?? [];
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});
