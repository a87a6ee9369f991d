import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { floors } from "./floors.ts";
import { namedFaults } from "./named-faults.ts";
import type { SelftestEvent } from "./whole-selftest.ts";

const main = join(import.meta.dirname, "..", "cli", "main.ts");

/** What the selftest has told: all tests of this file read what one run of it says. */
class Told {
  readonly #events: SelftestEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #ended = false;

  add(event: SelftestEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const look of this.#waiting) look();
  }

  /** What of the events so far answers a question, as soon as one does. */
  first<Answer>(question: (event: SelftestEvent) => Answer | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const answer = this.#events.map(question).find((found) => found !== undefined);
        if (answer === undefined && !this.#ended) return;
        this.#waiting.delete(look);
        if (answer === undefined) reject(new Error("the selftest has ended and says nothing of it"));
        else resolve(answer);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

const told = new Told();
let child: ChildProcess | undefined;

beforeAll(async () => {
  const args = ["--conditions=development", main, "selftest", "--format", "json"];
  const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  createInterface({ input: started.stdout }).on("line", (line) => told.add(JSON.parse(line)));
  started.once("close", () => told.end());
  await told.first((event) => (event.kind === "correct" ? event : undefined));
}, 180_000);

afterAll(() => void child?.kill("SIGTERM"));

describe("selftest", () => {
  test("passes the correct provider in every check, whatever the seed", async () => {
    const correct = (seed: "first" | "other") =>
      told.first((event) => (event.kind === "correct" && event.which === seed ? event : undefined));
    expect((await correct("first")).failing).toEqual([]);
    expect((await correct("other")).failing).toEqual([]);
    expect((await correct("first")).passed).toBeGreaterThan(150);
  }, 180_000);

  test.each(namedFaults)(
    "finds that $fault ($name), and nothing else",
    async ({ name, fails }) => {
      const outcome = await told.first((event) =>
        event.kind === "fault" && event.outcome.name === name ? event.outcome : undefined,
      );
      expect(outcome.did).toEqual(fails.length === 0 ? ["never ready"] : fails.toSorted());
    },
    120_000,
  );

  test.each(floors)(
    "stands on a provider that $fault ($name)",
    async ({ name }) => {
      const outcome = await told.first((event) =>
        event.kind === "floor" && event.outcome.name === name ? event.outcome : undefined,
      );
      expect(outcome.problems).toEqual([]);
    },
    120_000,
  );
});
