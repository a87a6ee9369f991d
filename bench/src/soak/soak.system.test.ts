import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { soak } from "./run.ts";

let out: string;

beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "soak-"));
});
afterEach(() => rm(out, { recursive: true }));

// Too short for memory checks: it checks that the soak test itself works.
test("soak() finds nothing wrong with a cluster of 60 nodes under churn", async () => {
  const said: string[] = [];
  const options = { durationMs: 30_000, nodes: 60, services: 8, seed: 1, out };
  expect(await soak(options, (line) => said.push(line), new AbortController().signal)).toEqual([]);
  expect(said).toContain("60 nodes and 8 Services are up to date; the churn begins.");
}, 600_000);
