import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Result } from "./results.ts";
import { parseResultsFile, readResultsFile, requireSameMachine, writeResultsFile } from "./results-file.ts";

const run = { scenario: "initialize", sizes: { nodes: 30 }, peer: "ours", round: 0 };
const results: readonly Result[] = [
  { ...run, kind: "measured", measurements: { seconds: 1.5, eventLoopP99Ms: 12 } },
  { ...run, round: 1, kind: "projected", share: 0.5, measurements: { seconds: 3 } },
  { ...run, round: 2, kind: "failed", reason: "a program ended" },
];

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "results-"));
});
afterEach(() => rm(directory, { recursive: true }));

test("readResultsFile() reads what writeResultsFile() wrote, which leaves nothing else behind", async () => {
  const path = join(directory, "new", "bench.json");
  await writeResultsFile(path, { machine: "mine", results });
  expect(await readResultsFile(path)).toEqual({ machine: "mine", results });
  expect(await readdir(join(directory, "new"))).toEqual(["bench.json"]);
});

test("readResultsFile() has nothing where nothing was measured", async () => {
  expect(await readResultsFile(join(directory, "none.json"))).toBeUndefined();
});

describe("parseResultsFile()", () => {
  test.each([
    ["no JSON", "{", "it is no JSON"],
    ["a file of something else", '{"name":"x"}', "it has no machine or no results"],
    ["a result of an older form", '{"machine":"m","results":[{"scenario":"a","peer":"b","round":0}]}', "result 0"],
  ])("refuses %s", (_sentence, text, what) => {
    expect(() => parseResultsFile("x.json", text)).toThrow(`x.json is not a file of this bench (${what}`);
  });
});

test("requireSameMachine() refuses results of another machine", () => {
  const file = { machine: "theirs", results };
  expect(() => requireSameMachine("x.json", file, "theirs")).not.toThrow();
  expect(() => requireSameMachine("x.json", file, "mine")).toThrow(
    '--resume x.json: it was measured on "theirs" and this is "mine"; give another --out',
  );
});
