import { expect, test } from "vitest";
import { durationMs, durationToProto, timeMs, timeToProto } from "./time.ts";

test.each([
  [undefined, undefined],
  [{ seconds: 0n, nanos: 0 }, 0],
  [{ seconds: 2n, nanos: 500_000_000 }, 2500],
])("durationMs() of %o is %o", (duration, ms) => {
  expect(durationMs(duration)).toBe(ms);
});

test.each([
  [2500, { seconds: 2n, nanos: 500_000_000 }],
  [999.6, { seconds: 1n, nanos: 0 }],
  [0, { seconds: 0n, nanos: 0 }],
  [-1500, { seconds: 0n, nanos: 0 }],
  [Number.NaN, { seconds: 0n, nanos: 0 }],
  [Number.POSITIVE_INFINITY, { seconds: 0n, nanos: 0 }],
])("durationToProto() of %d ms", (ms, duration) => {
  expect(durationToProto(ms)).toEqual(duration);
});

test.each([
  [undefined, undefined],
  [new Date(Number.NaN), undefined],
  [new Date(0), 0],
  [new Date(5000), 5000],
])("timeMs() of %o is %o", (time, ms) => {
  expect(timeMs(time)).toBe(ms);
});

test.each([
  [0, undefined],
  [5000, new Date(5000)],
])("timeToProto() of %d is %o", (ms, time) => {
  expect(timeToProto(ms)).toEqual(time);
});
