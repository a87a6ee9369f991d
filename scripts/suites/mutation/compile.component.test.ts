import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../lib/run.ts";
import { uncompilable } from "./compile.ts";
import type { Mutant } from "./report.ts";

const PATH = "controller/src/controllers/node-lifecycle/plan.ts";
const source = await readFile(join(ROOT, PATH), "utf8");

function fault(before: string, after: string): Mutant {
  expect(source).toContain(before);
  return { path: PATH, line: 1, before, after, text: source.replace(before, after), noticed: false };
}

test("uncompilable() distinguishes faults that the compiler rejects from those that compile", async () => {
  const untyped = fault('case "unknown":', 'case "":');
  const unhandled = fault('case "answered":\n      return foldAnswered(seen);', "");
  const possible = fault("if (isReady(node))", "if (!isReady(node))");
  // Leaves a function over, which is no reason.
  const unused = fault("taintFor(result.instance.state)", '"keep"');
  expect(await uncompilable([possible, untyped, unused, unhandled])).toEqual(new Set([untyped, unhandled]));
});

test("uncompilable() asks no one when there is nothing to ask", async () => {
  expect(await uncompilable([])).toEqual(new Set());
});
