import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { valuesSchema } from "./schema.ts";
import { valuesTable } from "./table.ts";
import { isValue, type Value, type Values } from "./value.ts";
import { valuesFile } from "./values-file.ts";
import { valuesOf } from "./values.ts";

const TEMPLATES = new URL("../../charts/cloudwire-controller-manager/templates/", import.meta.url);

const values = valuesOf({ type: "object" });

const pathsOf = (node: Value | Values, path: string): readonly string[] =>
  isValue(node) ? [path] : Object.entries(node).flatMap(([name, below]) => pathsOf(below, `${path}.${name}`));

const defaults = (node: Values): object =>
  Object.fromEntries(
    Object.entries(node).map(([name, below]) => [name, isValue(below) ? below.default : defaults(below)]),
  );

/** `.image.tag`, as templates name it after `.Values`. */
const paths = pathsOf(values, "");

const named = new Set(
  readdirSync(TEMPLATES).flatMap((file) =>
    [...readFileSync(new URL(file, TEMPLATES), "utf8").matchAll(/\.Values((?:\.[a-zA-Z]+)+)/g)].map(
      ([, path = ""]) => path,
    ),
  ),
);

const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}.`);

describe("valuesOf()", () => {
  test("has no value that no template uses", () => {
    expect(paths.filter((path) => ![...named].some((name) => isWithin(path, name)))).toEqual([]);
  });

  test("has every value that a template uses", () => {
    expect([...named].filter((name) => !paths.some((path) => isWithin(path, name) || isWithin(name, path)))).toEqual(
      [],
    );
  });
});

test("valuesFile() has every value with its default", () => {
  expect(parse(valuesFile(values))).toEqual(defaults(values));
});

test("valuesFile() keeps to lines that can be read", () => {
  const comments = valuesFile(values)
    .split("\n")
    .filter((line) => /^ *#/.test(line));
  expect(comments.filter((line) => line.length > 120)).toEqual([]);
});

test("valuesSchema() closes every group, and the items of lists", () => {
  const small: Values = {
    image: { tag: { about: "Tag.", default: "", schema: { type: "string" } } },
    providers: {
      about: "Clouds.",
      default: [],
      schema: { type: "array" },
      items: { name: { about: "Name.", schema: { type: "string" }, isRequired: true } },
    },
  };
  expect(valuesSchema(small)).toMatchObject({
    additionalProperties: false,
    properties: {
      image: {
        additionalProperties: false,
        properties: { tag: { type: "string", description: "Tag." } },
      },
      providers: {
        type: "array",
        items: {
          additionalProperties: false,
          required: ["name"],
          properties: { name: { type: "string", description: "Name." } },
        },
      },
    },
  });
});

test("valuesTable() has a row for each value and each field of an item", () => {
  const rows = valuesTable(values).split("\n").slice(2);
  const fields = Object.values(values).flatMap((node) => (isValue(node) ? Object.keys(node.items ?? {}) : []));
  expect(rows).toHaveLength(paths.length + fields.length);
  expect(rows).toContain(
    "| `replicas` | `2` | Replicas of a Deployment, each on a separate node. One is the leader, the others are standbys. |",
  );
});
