import { describe, expect, test } from "vitest";
import { seededRandom } from "../lib/random.ts";
import type { Point } from "../lib/statistics.ts";
import { afterWarmUp, checkCount, checkMemory, trendOf, troughs } from "./check-soak.ts";

const MIB = 1024 * 1024;
const SAMPLE_SECONDS = 5;

/** Thirty minutes of samples, or as many as said. */
function series(valueAt: (seconds: number) => number, minutes = 30): readonly Point[] {
  return Array.from({ length: (minutes * 60) / SAMPLE_SECONDS + 1 }, (_, index) => {
    const seconds = index * SAMPLE_SECONDS;
    return { seconds, value: valueAt(seconds) };
  });
}

const memory = (valueAt: (seconds: number) => number, minutes?: number) =>
  checkMemory(trendOf(afterWarmUp(series(valueAt, minutes)))).kind;
const count = (valueAt: (seconds: number) => number, minutes?: number) =>
  checkCount(trendOf(afterWarmUp(series(valueAt, minutes)))).kind;

/** 0 to 1, then at once 0 again. */
const sawtooth = (seconds: number, periodSeconds: number): number => (seconds % periodSeconds) / periodSeconds;

describe("checkMemory()", () => {
  test.each<[string, (seconds: number) => number]>([
    ["is level", () => 200 * MIB],
    ["goes up and down with a garbage collection every 40 s", (s) => 180 * MIB + 60 * MIB * sawtooth(s, 40)],
    ["goes up and down with a garbage collection every 4 min", (s) => 180 * MIB + 40 * MIB * sawtooth(s, 240)],
    ["grows while it is young, and stays", (s) => 220 * MIB - 120 * MIB * Math.exp(-s / 120)],
    ["shrinks", (s) => 300 * MIB - 20_000 * s],
    ["has a spike in the end", (s) => (s > 1700 ? 600 : 200) * MIB],
    ["grows by 3 % in the time that counts", (s) => 200 * MIB * (1 + (0.03 * s) / 1200)],
  ])("calls a series flat that %s", (_sentence, valueAt) => {
    expect(memory(valueAt)).toBe("flat");
  });

  test.each<[string, (seconds: number) => number]>([
    ["leaks 1 MiB a minute", (s) => 200 * MIB + (s / 60) * MIB],
    ["leaks under a sawtooth", (s) => 200 * MIB + (s / 60) * MIB + 50 * MIB * sawtooth(s, 60)],
    ["leaks with every tenth event only", (s) => 200 * MIB + Math.floor(s / 100) * 3 * MIB],
  ])("finds that a series grows that %s", (_sentence, valueAt) => {
    expect(memory(valueAt)).toBe("grows");
  });

  test("finds a leak of 1 MiB a minute under noise", () => {
    const random = seededRandom(7);
    expect(memory((s) => 200 * MIB + (s / 60) * MIB + random() * 30 * MIB)).toBe("grows");
  });

  test("says what grew by how much", () => {
    const trend = trendOf(series((s) => 100 * MIB * (1 + s / 1800)));
    expect(checkMemory(trend)).toEqual({ kind: "grows", why: "by 100.0 % in 30 min, 5.0 % are allowed" });
  });

  test("has no word for a run of a minute", () => {
    expect(memory((s) => 100 * MIB + s * MIB, 1)).toBe("tooShort");
  });
});

describe("checkCount()", () => {
  test.each<[string, (seconds: number) => number]>([
    ["is level", () => 31],
    ["has connections that come and go", (s) => (s % 60 < 20 ? 40 : 31)],
    ["has one connection more from some moment on", (s) => (s < 1300 ? 31 : 32)],
  ])("calls a series flat that %s", (_sentence, valueAt) => {
    expect(count(valueAt)).toBe("flat");
  });

  test("finds one descriptor that is left behind every three minutes", () => {
    expect(count((s) => 31 + Math.floor(s / 180))).toBe("grows");
  });

  test("has no word for a run of a minute", () => {
    expect(count((s) => s, 1)).toBe("tooShort");
  });
});

describe("afterWarmUp()", () => {
  test("leaves out the first third of a life, whenever it began", () => {
    const life = [100, 110, 120, 130].map((seconds) => ({ seconds, value: 1 }));
    expect(afterWarmUp(life).map(({ seconds }) => seconds)).toEqual([110, 120, 130]);
  });

  test("leaves nothing of nothing", () => {
    expect(afterWarmUp([])).toEqual([]);
  });
});

describe("troughs()", () => {
  test("keeps what garbage collections leave, so that a leak below a sawtooth shows as it is", () => {
    const heap = series((s) => 70 * MIB + 1000 * s + 60 * MIB * sawtooth(s, 40));
    expect(trendOf(troughs(heap)).growth / 1000).toBeCloseTo(1800);
    expect(troughs(heap)).toHaveLength(16);
  });
});
