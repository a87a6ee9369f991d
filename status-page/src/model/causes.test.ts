import { expect, test } from "vitest";
import { remedyOf } from "./causes.ts";

const cause = { reason: "R", message: "It is so." };

test.each([
  { what: "what the cause says", remedy: "Have it raised.", state: "unmanaged", says: "Have it raised." },
  { what: "that it passes", remedy: undefined, state: "waiting", says: "nothing; it passes by itself." },
  { what: "no more than nothing of what stays as it is", remedy: undefined, state: "unmanaged", says: "nothing." },
] as const)("remedyOf() says $what", ({ remedy, state, says }) => {
  expect(remedyOf({ ...cause, ...(remedy === undefined ? {} : { remedy }) }, state)).toBe(says);
});
