import { expect, test } from "vitest";
import { once } from "./once.ts";

test("once() calls its factory on the first use only", () => {
  let made = 0;
  const get = once(() => void (made += 1));
  expect(made).toBe(0);
  expect([get(), get()]).toEqual([undefined, undefined]);
  expect(made).toBe(1);
});
