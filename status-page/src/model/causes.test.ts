import { expect, test } from "vitest";
import { remedyOf } from "./causes.ts";

const cause = { reason: "R", message: "Message." };

test.each([
  { what: "the remedy of the cause", remedy: "Raise it.", state: "unmanaged", text: "Raise it." },
  {
    what: "that it resolves automatically",
    remedy: undefined,
    state: "waiting",
    text: "No action needed; this resolves automatically.",
  },
  { what: "that unmanaged objects need no action", remedy: undefined, state: "unmanaged", text: "No action needed." },
] as const)("remedyOf() returns $what", ({ remedy, state, text }) => {
  expect(remedyOf({ ...cause, ...(remedy === undefined ? {} : { remedy }) }, state)).toBe(text);
});
