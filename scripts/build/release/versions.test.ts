import { expect, test } from "vitest";
import { treeTexts } from "../../lib/tree.ts";
import { isVersion, versionsIn, withVersion } from "./versions.ts";

const FILES = new Map([
  ["package.json", '{\n  "version": "1.2.3",\n  "dependencies": { "@cloudwire/proto": "1.2.3", "other": "1.2.3" }\n}'],
  ["a/templates/typescript/package.json", '{\n  "version": "0.1.0",\n  "d": { "@cloudwire/provider-sdk": "1.2.3" }\n}'],
  ["deploy/charts/one/Chart.yaml", "apiVersion: v2\nversion: 1.2.3\nappVersion: 1.2.3\n"],
  [
    "package-lock.json",
    '    "a": {\n      "name": "@cloudwire/a",\n      "version": "1.2.3-rc.1",\n    "b": { "version": "1.2.3" }',
  ],
]);

test("versionsIn() finds what is Cloudwire's and nothing else", () => {
  expect(versionsIn(FILES).found).toEqual([
    { path: "package.json", line: 2, version: "1.2.3" },
    { path: "package.json", line: 3, version: "1.2.3" },
    { path: "a/templates/typescript/package.json", line: 3, version: "1.2.3" },
    { path: "package-lock.json", line: 3, version: "1.2.3-rc.1" },
    { path: "deploy/charts/one/Chart.yaml", line: 2, version: "1.2.3" },
    { path: "deploy/charts/one/Chart.yaml", line: 3, version: "1.2.3" },
  ]);
});

test("versionsIn() reports a place that no longer exists", () => {
  expect(versionsIn(FILES).lost).toContainEqual(expect.stringContaining("version\\.go"));
});

test("withVersion() changes what is Cloudwire's and nothing else", () => {
  const changed = withVersion(FILES, "2.0.0");
  expect(changed.get("package.json")).toContain('"other": "1.2.3"');
  expect(changed.get("a/templates/typescript/package.json")).toContain('"version": "0.1.0"');
  expect(changed.get("package-lock.json")).toContain('"b": { "version": "1.2.3" }');
  const { found } = versionsIn(new Map([...FILES, ...changed]));
  expect([...new Set(found.map(({ version }) => version))]).toEqual(["2.0.0"]);
});

test("withVersion() reaches every version of the tree", async () => {
  const tree = await treeTexts();
  const changed = withVersion(tree, "98.76.54-rc.1");
  const { found, lost } = versionsIn(new Map([...tree, ...changed]));
  expect(lost).toEqual([]);
  expect(found.length).toBeGreaterThan(60);
  expect(found.filter(({ version }) => version !== "98.76.54-rc.1")).toEqual([]);
});

test.each([
  ["1.2.3", true],
  ["1.2.3-rc.1", true],
  ["v1.2.3", false],
  ["1.2", false],
  ["", false],
])("isVersion() of %o is %o", (text, wanted) => {
  expect(isVersion(text)).toBe(wanted);
});
