import { expect, test } from "vitest";
import { builtPeers } from "./built-peers.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM_TUNED } from "./names.ts";
import { planOf } from "./plan.ts";
import { figuresOf, type Result } from "./results.ts";
import { measureAll } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

// Too small to say what anything costs: it is here so that the bench runs whenever somebody needs it.
test("measureAll() has figures of each peer that initialises 30 nodes", async () => {
  const peers = [CLOUDWIRE, UPSTREAM_TUNED, RAW_WRITER];
  const options = { scenarios: ["initialise"], peers, sizes: { nodes: 30 }, rounds: 1, growth: false };
  const runs = planOf(SCENARIOS, options);
  const stop = new AbortController().signal;
  const results: Result[] = [];
  const measuring = { peers: await builtPeers(), patienceMs: Number.POSITIVE_INFINITY, stop };
  for await (const result of measureAll(runs, measuring)) results.push(result);
  const seen = results.map((result) => [result.peer, result.kind, figuresOf(result).apiWrites]);
  expect(seen).toEqual(peers.map((peer) => [peer, "measured", 60]));
  expect(results.map((result) => Object.keys(figuresOf(result)).length)).toEqual([13, 12, 6]);
  // On a clean machine upstream is built first.
}, 600_000);
