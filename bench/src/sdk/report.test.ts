import { expect, test } from "vitest";
import { missedGoals, sdkTable } from "./report.ts";

const life = (servingMs: number, megabytes: number) => ({
  servingMs,
  startCpuMs: servingMs * 2,
  rssBytes: megabytes * 1e6,
  pssBytes: megabytes * 5e5,
});

const lives = new Map([
  ["TypeScript", [life(300, 80), life(200, 60), life(250, 76)]],
  ["Go", [life(25, 20), life(30, 19), life(20, 22)]],
]);

test("sdkTable() shows medians, ranges, and ratios to the first", () => {
  const [head, , ...body] = sdkTable(lives)
    .split("\n")
    .map((line) => line.replaceAll(/ +/g, " "));
  expect([head, ...body]).toEqual([
    "| | goal | TypeScript | Go |",
    "| start to first answer, ms | < 400 | 250 (200–300) | 25 (20–30), 0.10× |",
    "| CPU until then, ms | | 500 (400–600) | 50 (40–60), 0.10× |",
    "| RSS at rest, MB | < 70 | 76 (60–80) | 20 (19–22), 0.26× |",
    "| PSS at rest, MB | | 38 (30–40) | 10 (9.5–11), 0.26× |",
  ]);
});

test("missedGoals() names what the first one does not keep", () => {
  expect(missedGoals(lives)).toEqual(["TypeScript, RSS at rest: 76 MB, wanted less than 70"]);
});
