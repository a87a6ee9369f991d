import { describe, expect, test } from "vitest";
import { type Play, runBatch } from "./batch.ts";
import type { Observation } from "./observe.ts";

const SEEN: Observation = { facts: new Map([["Node a", "x"]]), writes: 1, cloudCalls: 2, failures: [] };

const done = (): Promise<void> => Promise.resolve();

const fails = (message: string) => (): Promise<void> => Promise.reject(new Error(message));

function play(name: string, parts: Partial<Play> = {}): Play {
  return { name, arrange: done, away: done, run: done, observe: () => Promise.resolve(SEEN), clear: done, ...parts };
}

describe("runBatch()", () => {
  test.each<[step: string, parts: Partial<Play>, failure: string]>([
    ["arrange", { arrange: fails("409") }, "arrange: 409"],
    ["away", { away: fails("the server is gone") }, "away: the server is gone"],
    ["run", { run: fails("the cloud made no machine") }, "run: the cloud made no machine"],
    ["observe", { observe: () => Promise.reject(new Error("timeout")) }, "run: timeout"],
    ["clear", { clear: fails("Services are left") }, "clear: Services are left"],
  ])("observes the other scenarios when %s of one throws (case P-2)", async (_step, parts, failure) => {
    const observations = await runBatch([play("bad", parts), play("good")], (away) => away());
    expect(observations.get("good")).toEqual(SEEN);
    expect(observations.get("bad")?.failures).toEqual([failure]);
  });

  test("clears what a failed scenario made, and runs it no further (case P-2)", async () => {
    const steps: string[] = [];
    const noted = (step: string) => async (): Promise<void> => void steps.push(step);
    const bad = play("bad", { arrange: fails("no"), away: noted("away"), run: noted("run"), clear: noted("clear") });
    await runBatch([bad], (away) => away());
    expect(steps).toEqual(["clear"]);
  });
});
