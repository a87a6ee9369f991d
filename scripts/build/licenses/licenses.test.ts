import { expect, test } from "vitest";
import { licensesPage, notAllowed, shippedPackages } from "./licenses.ts";

const LOCK = {
  "": { dependencies: { root: "1" } },
  app: { dependencies: { "@us/lib": "1", a: "1" } },
  lib: { dependencies: { b: "2" } },
  other: { dependencies: { c: "1" } },
  "node_modules/@us/lib": { link: true, resolved: "lib" },
  "node_modules/a": { version: "1.0.0", license: "MIT", dependencies: { b: "1" } },
  "node_modules/a/node_modules/b": { version: "1.1.0", license: "ISC" },
  "node_modules/b": { version: "2.0.0", license: "(GPL-3.0 OR MIT)", optionalDependencies: { away: "1" } },
  "node_modules/c": { version: "3.0.0", license: "GPL-3.0" },
  "node_modules/root": { version: "9.0.0" },
};

test("shippedPackages() follows dependencies as Node finds them, through workspaces", () => {
  expect(shippedPackages(LOCK, ["app", "lib"])).toEqual([
    { name: "a", version: "1.0.0", license: "MIT", by: ["app"] },
    { name: "b", version: "1.1.0", license: "ISC", by: ["app"] },
    { name: "b", version: "2.0.0", license: "(GPL-3.0 OR MIT)", by: ["app", "lib"] },
  ]);
});

test.each([
  ["MIT", true],
  ["(GPL-3.0 OR MIT)", true],
  ["MIT AND ISC", true],
  ["MIT AND GPL-3.0", false],
  ["GPL-3.0", false],
  ["SEE LICENSE IN x", false],
  ["", false],
])("notAllowed() lets %o pass: %o", (license, wanted) => {
  const one = { name: "a", version: "1.0.0", license, by: ["app"] };
  expect(notAllowed([one])).toEqual(wanted ? [] : [one]);
});

test("licensesPage() has a row for each package", () => {
  expect(licensesPage(shippedPackages(LOCK, ["other"]))).toContain("| c | 3.0.0 | GPL-3.0 | other |\n");
});
