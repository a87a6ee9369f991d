import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { NOT_IN_POD } from "./selection.ts";

test("what the pod's suite leaves out is there", async () => {
  const files = await readdir(new URL("..", import.meta.url), { recursive: true });
  const names = files.map((file) => basename(file));
  expect(names).toEqual(expect.arrayContaining(Object.keys(NOT_IN_POD).map((name) => `${name}.system.test.ts`)));
});
