import { expect, test } from "vitest";
import { brakesOf } from "./brakes.ts";

const held = (provider: string, reason: string, message = "so it is") => ({ provider, why: { reason, message } });

test.each([
  ["nothing of nobody", [], {}],
  [
    "that it holds where one Node is held by it, and how many are said to be gone",
    [held("east", "counting"), held("east", "brake", "2 of 3 Nodes"), held("east", "young")],
    { east: { holds: true, gone: 3, message: "2 of 3 Nodes" } },
  ],
  [
    "of each provider by itself",
    [held("east", "brake", "all of them"), held("west", "providerDoubted")],
    { east: { holds: true, gone: 1, message: "all of them" }, west: { holds: false, gone: 1 } },
  ],
  ["nothing of machines of which nothing is known", [held("east", "unknown"), held("east", "of another kind")], {}],
])("brakesOf() tells %s", (_what, nodes, wanted) => {
  expect(Object.fromEntries(brakesOf(nodes))).toEqual(wanted);
});
