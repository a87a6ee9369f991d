import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MODULE = new URL("idle-memory.mjs", import.meta.url).href;

/** Allocates 200 MB of old objects, drops them, waits until most of the memory is returned, and reports MiB before and after. */
const PROGRAM = `
  const rssMiB = () => process.memoryUsage.rss() / 1024 ** 2;
  let objects = Array.from({ length: 1_000_000 }, (_, index) => ({ text: "object " + index, more: [index] }));
  const before = rssMiB();
  objects = undefined;
  if (process.argv[1] === "on") (await import(${JSON.stringify(MODULE)})).giveBackIdleMemory(50);
  const endMs = performance.now() + (process.argv[1] === "on" ? 30_000 : 1000);
  while (rssMiB() > before / 2 && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20));
  console.log(JSON.stringify({ before, after: rssMiB() }));
`;

async function run(how: "on" | "off"): Promise<{ readonly before: number; readonly after: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", PROGRAM, how]);
  return JSON.parse(stdout);
}

test("giveBackIdleMemory() returns the memory of objects that are gone, which V8 by itself keeps", async () => {
  const [on, off] = [await run("on"), await run("off")];
  expect(on.after).toBeLessThan(on.before / 2);
  expect(off.after).toBeGreaterThan(off.before / 2);
});
