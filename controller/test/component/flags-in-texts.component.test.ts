import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));

/** Flags of other programs that texts name, and such as stand for any. */
const FOREIGN: readonly string[] = [
  // kubelet's
  "--cloud-provider",
  "--hostname-override",
  "--node-ip",
  "--provider-id",
  // kubectl's
  "--overwrite",
  "--raw",
  // examples of how flags are written
  "--a",
  "--bool",
];

const NAME = /(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*/g;

test("every flag that a text or a comment of the controller names is one of --help", () => {
  const help = execFileSync(process.execPath, ["--conditions=development", join(SOURCES, "main.ts"), "--help"], {
    encoding: "utf8",
  });
  const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z0-9-]+)/gm)].map(([, flag = ""]) => flag);
  expect(flags).toContain("--provider");
  const known = new Set([...flags, ...FOREIGN]);
  const unknown = sources().flatMap((path) =>
    (readFileSync(join(SOURCES, path), "utf8").match(NAME) ?? [])
      .filter((name) => !known.has(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("every foreign flag is still named somewhere", () => {
  const named = new Set(sources().flatMap((path) => readFileSync(join(SOURCES, path), "utf8").match(NAME) ?? []));
  expect(FOREIGN.filter((name) => !named.has(name))).toEqual([]);
});

function sources(): readonly string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !/\.(?:test|bench)\.ts$/.test(path),
  );
}
