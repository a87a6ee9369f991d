import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { textOf } from "./send.ts";

test("textOf() gives the whole text", async () => {
  const incoming = new PassThrough();
  incoming.write("a");
  incoming.end("b");
  expect(await textOf(incoming, 2, 5000)).toBe("ab");
});

test("textOf() waits for no answer that does not go on", async () => {
  const incoming = new PassThrough();
  incoming.write("a");
  await expect(textOf(incoming, 100, 10)).rejects.toThrow("it did not go on within 0.01 s");
  expect(incoming.destroyed).toBe(true);
});

test("textOf() reads no further than it may", async () => {
  const incoming = new PassThrough();
  incoming.write("abc");
  await expect(textOf(incoming, 2, 5000)).rejects.toThrow("the answer is longer than");
  expect(incoming.destroyed).toBe(true);
});
