import { expect, test } from "vitest";
import { heapPoints, points, type Sample, toCsv } from "./sampler.ts";

const measurements = (pid: number, rssBytes: number) => ({
  pid,
  rssBytes,
  pssBytes: 2,
  privateBytes: 3,
  descriptors: 4,
  threads: 5,
});
const samples: readonly Sample[] = [
  { seconds: 0, controller: measurements(10, 100), heapBytes: 50, sidecar: measurements(20, 1) },
  { seconds: 5, controller: measurements(10, 101), heapBytes: undefined, sidecar: undefined },
  { seconds: 10, controller: measurements(10, 102), heapBytes: 60, sidecar: measurements(21, 2) },
  { seconds: 15, controller: measurements(10, 103), heapBytes: 61, sidecar: measurements(21, 3) },
];

test("points() keeps to the process of the longest life", () => {
  expect(points(samples, "sidecar", "rssBytes")).toEqual([
    { seconds: 10, value: 2 },
    { seconds: 15, value: 3 },
  ]);
  expect(points(samples, "controller", "rssBytes")).toHaveLength(4);
});

test("heapPoints() leaves out moments without an answer", () => {
  expect(heapPoints(samples).map(({ seconds }) => seconds)).toEqual([0, 10, 15]);
});

test("toCsv() writes a line a sample, with nothing where there was no process", () => {
  const [header = "", , second] = toCsv(samples).split("\n");
  expect(second).toBe("5.0,10,101,2,3,4,5,,,,,,,");
  expect(header.split(",")).toHaveLength(14);
});
