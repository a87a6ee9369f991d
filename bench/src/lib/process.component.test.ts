import { expect, test } from "vitest";
import { readProcessFigures } from "./process-figures.ts";
import { readProcessUsage } from "./process-usage.ts";

const MIB = 1024 * 1024;

test("readProcessFigures() sees this process's memory, descriptors and threads", async () => {
  const figures = await readProcessFigures(process.pid);
  expect(figures?.rssBytes).toBeGreaterThan(20 * MIB);
  expect(figures?.privateBytes).toBeGreaterThan(5 * MIB);
  expect(figures?.pssBytes).toBeGreaterThanOrEqual(figures?.privateBytes ?? 0);
  expect(figures?.descriptors).toBeGreaterThan(3);
  expect(figures?.threads).toBeGreaterThan(3);
});

test("readProcessFigures() has nothing of a process that is not there", async () => {
  // Above the most that Linux ever hands out.
  expect(await readProcessFigures(4_194_305)).toBeUndefined();
});

test("readProcessUsage() sees the time that this process has worked, and the most memory that it had", async () => {
  const usage = await readProcessUsage(process.pid);
  const { user, system } = process.cpuUsage();
  const seconds = (user + system) / 1_000_000;
  expect(usage.cpuSeconds).toBeGreaterThan(seconds * 0.5);
  expect(usage.cpuSeconds).toBeLessThan(seconds * 2 + 1);
  expect(usage.peakRssBytes).toBeGreaterThanOrEqual(usage.rssBytes);
});
