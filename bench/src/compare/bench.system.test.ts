import { expect, test } from "vitest";
import { builtPeers } from "./peers/built-peers.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM_TUNED } from "./peers/names.ts";
import { planOf } from "./plan.ts";
import { measurementsOf, type Result } from "./report/results.ts";
import { measureAll } from "./measure/measure.ts";
import { SCENARIOS } from "./scenarios/scenarios.ts";

// Too small for meaningful results: it checks that the benchmark itself works.
test("measureAll() returns measurements of each peer that initializes 30 nodes", async () => {
  const peers = [CLOUDWIRE, UPSTREAM_TUNED, RAW_WRITER];
  const options = { scenarios: ["initialize"], peers, sizes: { nodes: 30 }, rounds: 1, growth: false };
  const runs = planOf(SCENARIOS, options);
  const stop = new AbortController().signal;
  const results: Result[] = [];
  const measuring = { peers: await builtPeers(), patienceMs: Number.POSITIVE_INFINITY, stop };
  for await (const result of measureAll(runs, measuring)) results.push(result);
  expect(results.map(({ peer, kind }) => [peer, kind])).toEqual(peers.map((peer) => [peer, "measured"]));
  // Two a node, and more where a write met another one.
  expect(Math.min(...results.map((result) => measurementsOf(result).apiWrites ?? 0))).toBeGreaterThanOrEqual(60);
  expect(results.map((result) => Object.keys(measurementsOf(result)).length)).toEqual([13, 12, 6]);
  // On a clean machine upstream is built first.
}, 600_000);
