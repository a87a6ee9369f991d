import { expect, test } from "vitest";
import { parseBenchOptions } from "./options.ts";

const choices = { scenarios: ["initialise", "join"], peers: ["ours", "theirs"], defaultOut: "/out.json" };

test("parseBenchOptions() takes everything when nothing is said", () => {
  expect(parseBenchOptions([], choices)).toEqual({
    kind: "options",
    options: {
      sizes: { nodes: 5000, services: 100, joining: 10, steadyMs: 600_000 },
      rounds: 3,
      scenarios: ["initialise", "join"],
      peers: ["ours", "theirs"],
      out: "/out.json",
    },
  });
});

test("parseBenchOptions() tells everything that is wrong at once", () => {
  expect(parseBenchOptions(["--nodes=many", "--rounds=0", "--peers=ours,others"], choices)).toEqual({
    kind: "problems",
    problems: [
      "--nodes many: must be a whole number from 1 to 20000",
      "--rounds 0: must be a whole number from 1 to 100",
      "--peers others: there are ours, theirs",
    ],
  });
});
