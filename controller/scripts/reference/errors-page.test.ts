import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { OWN_CODES, OWN_REASONS } from "./rows/error-codes.ts";

const SOURCES = new URL("../../src/", import.meta.url).pathname;

function inSources(pattern: RegExp): readonly string[] {
  const paths = globSync("**/*.ts", { cwd: SOURCES }).filter((path) => !path.endsWith(".test.ts"));
  const found = paths.flatMap((path) =>
    [...readFileSync(`${SOURCES}${path}`, "utf8").matchAll(pattern)].map(([, code = ""]) => code),
  );
  return [...new Set(found)].toSorted();
}

test("the page of errors has the code of every class of errors, and no other", () => {
  expect(Object.keys(OWN_CODES).toSorted()).toEqual(inSources(/readonly code = "([A-Z_]+)"/g));
});

test("the page of errors has this program's own reasons", () => {
  const source = readFileSync(`${SOURCES}provider/model/errors.ts`, "utf8");
  const [...reasons] = source.matchAll(/"((?:CLASS|CLAIM)_[A-Z]+)"/g);
  expect(reasons.map(([, reason]) => reason).filter((reason = "") => !(reason in OWN_REASONS))).toEqual([]);
});
