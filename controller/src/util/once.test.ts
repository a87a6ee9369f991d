import { expect, test } from "vitest";
import { once } from "./once.ts";

test("once() makes nothing before it is asked, and then one thing", () => {
  let made = 0;
  const get = once(() => void (made += 1));
  expect(made).toBe(0);
  expect([get(), get()]).toEqual([undefined, undefined]);
  expect(made).toBe(1);
});
