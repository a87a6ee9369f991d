import { expect, test } from "vitest";
import { parseBenchOptions } from "./options.ts";

const choices = { scenarios: ["initialize", "join"], peers: ["ours", "theirs"], defaultOut: "/out.json" };

test("parseBenchOptions() takes the goals' runs when nothing is said", () => {
  expect(parseBenchOptions([], choices)).toEqual({
    kind: "options",
    options: {
      plan: { scenarios: ["initialize", "join"], peers: undefined, sizes: {}, rounds: 3, growth: false },
      patienceMs: Number.POSITIVE_INFINITY,
      out: "/out.json",
      resume: false,
    },
  });
});

test("parseBenchOptions() takes what is said", () => {
  const args = ["--nodes=20", "--steady=5", "--peers=ours", "--patience=60", "--growth", "--resume", "--out=/x.json"];
  expect(parseBenchOptions(args, choices)).toEqual({
    kind: "options",
    options: {
      plan: {
        scenarios: ["initialize", "join"],
        peers: ["ours"],
        sizes: { nodes: 20, steadySeconds: 5 },
        rounds: 3,
        growth: true,
      },
      patienceMs: 60_000,
      out: "/x.json",
      resume: true,
    },
  });
});

test("parseBenchOptions() publishes a file", () => {
  expect(parseBenchOptions(["--publish", "--out=/x.json"], choices)).toEqual({ kind: "publish", out: "/x.json" });
});

test("parseBenchOptions() reports all problems together", () => {
  expect(parseBenchOptions(["--nodes=many", "--rounds=0", "--peers=ours,others"], choices)).toEqual({
    kind: "problems",
    problems: [
      "--peers others: there are ours, theirs",
      "--nodes many: must be a whole number from 1 to 20000",
      "--rounds 0: must be a whole number from 1 to 100",
    ],
  });
});
