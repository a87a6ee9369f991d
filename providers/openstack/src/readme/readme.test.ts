import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withTables } from "@cloudwire/provider-sdk/program";
import { tables } from "./tables.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the README has the options and annotations of the program; else run: npm run gen -w @cloudwire/provider-openstack", () => {
  expect(withTables(readme, tables)).toBe(readme);
});
