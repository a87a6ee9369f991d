import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sayWhileWaiting } from "./waiting.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const rows: readonly (readonly [string, () => Promise<string>])[] = [
  ["returns", async () => "done"],
  ["throws", () => Promise.reject(new Error("done"))],
];

test.each(rows)("sayWhileWaiting() says every 15 s what runs, until the work %s", async (_sentence, end) => {
  const lines: string[] = [];
  const options = { write: (line: string) => void lines.push(line), nowMs: () => Date.now() };
  const work = async (): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, 31_000));
    return end();
  };
  const ended = sayWhileWaiting("go", work, options).catch((error: unknown) => String(error));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await ended).toContain("done");
  expect(lines).toEqual(["-- 15.0 s: go is still running", "-- 30.0 s: go is still running"]);
});
