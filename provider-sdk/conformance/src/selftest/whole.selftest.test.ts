import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { negativeBaselines } from "./negative-baselines.ts";
import { namedFaults } from "./mutants.ts";
import type { SelftestEvent } from "./selftest.ts";

const main = join(import.meta.dirname, "..", "main.ts");

/** The events of one selftest: all tests of this file use it. */
const events: SelftestEvent[] = [];
const ending = new AbortController();

/** Minutes on a machine that is busy. */
const patienceMs = 1_500_000;

beforeAll(async () => {
  // Always the same order of checks: a suite is no place for surprises.
  const args = ["--conditions=development", main, "selftest", "--format", "json", "--seed", "1"];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    signal: ending.signal,
    killSignal: "SIGTERM",
  });
  child.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => events.push(JSON.parse(line)));
  await once(child, "close");
}, patienceMs);

afterAll(() => ending.abort());

const only = <Found>(found: readonly Found[]): Found => {
  const [first, ...more] = found;
  if (first === undefined || more.length > 0) throw new Error(`the selftest reports it ${found.length} times`);
  return first;
};

describe("selftest", () => {
  test.each(["first", "other", "tls", "process"])("passes the correct provider in every check: %s", (which) => {
    const correct = events.filter((event) => event.kind === "correct").filter((event) => event.which === which);
    expect(only(correct).failing).toEqual([]);
  });

  test("runs most checks there are", () => {
    const passed = events.flatMap((event) => (event.kind === "correct" && event.which === "first" ? event.passed : []));
    expect(only(passed)).toBeGreaterThan(300);
  });

  test.each(namedFaults)("finds that $fault ($name), and nothing else", ({ name, fails }) => {
    const outcomes = events.flatMap((event) => (event.kind === "fault" ? [event.outcome] : []));
    const { did, surplus } = only(outcomes.filter((outcome) => outcome.name === name));
    expect({ did, surplus }).toEqual({ did: fails.length === 0 ? ["never ready"] : fails.toSorted(), surplus: [] });
  });

  test.each(negativeBaselines)("passes on a provider that $fault ($name)", ({ name }) => {
    const outcomes = events.flatMap((event) => (event.kind === "negativeBaseline" ? [event.outcome] : []));
    expect(only(outcomes.filter((outcome) => outcome.name === name)).problems).toEqual([]);
  });
});
