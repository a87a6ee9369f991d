import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { NOT_IN_POD } from "./selection.ts";

test("what the pod's suite leaves out is there", async () => {
  const files = await readdir(new URL("..", import.meta.url));
  expect(files).toEqual(expect.arrayContaining(Object.keys(NOT_IN_POD).map((name) => `${name}.system.test.ts`)));
});
