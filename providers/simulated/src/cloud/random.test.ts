import { expect, test } from "vitest";
import { seededRandom } from "./random.ts";

const draw = (seed: number, count: number): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random());
};

test("seededRandom() gives the same numbers for the same seed, and others for another", () => {
  expect(draw(7, 5)).toEqual(draw(7, 5));
  expect(draw(7, 5)).not.toEqual(draw(8, 5));
});

test("seededRandom() spreads over [0, 1)", () => {
  const numbers = draw(1, 10_000);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  expect(mean).toBeCloseTo(0.5, 1);
});
