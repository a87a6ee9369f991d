import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../test/manual-clock.ts";
import { keyFromFile } from "./key-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "key-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("keyFromFile() follows its file, and keeps the last key while there is none", () => {
  const path = join(directory, "key");
  const clock = manualClock();
  writeFileSync(path, "one\n");
  const key = keyFromFile(path, clock.now);
  writeFileSync(path, "two\n");
  expect(key()).toBe("one");
  clock.advance(5000);
  expect(key()).toBe("two");
  rmSync(path);
  clock.advance(5000);
  expect(key()).toBe("two");
});

test.each([
  ["is missing", undefined, /cannot read the API key from .*key \(ENOENT\): check --api-key-file/],
  ["is empty", "\n", /must contain only the API key/],
  ["holds more than a key", "a b", /must contain only the API key/],
])("keyFromFile() refuses a file that %s", (_, text, message) => {
  const path = join(directory, "key");
  if (text !== undefined) writeFileSync(path, text);
  expect(() => keyFromFile(path, () => 0)).toThrow(message);
});
