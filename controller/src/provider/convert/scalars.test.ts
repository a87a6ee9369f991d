import { QuotaClass } from "@cloudwire/proto/cloudprovider/v1/identity";
import { describe, expect, test } from "vitest";
import { callRatesFromProto, durationMs, durationToProto, timeMs, timeToProto } from "./scalars.ts";

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

describe("call rate", () => {
  const INSTANCES = QuotaClass.INSTANCES;

  test.each([
    ["a rate with its burst", { cloudCallsPerSecond: 5, burst: 7 }, [{ cloudCallsPerSecond: 5, burst: 7 }]],
    [
      "no burst: what comes in a second",
      { cloudCallsPerSecond: 2.5, burst: 0 },
      [{ cloudCallsPerSecond: 2.5, burst: 3 }],
    ],
    ["nothing a second", { cloudCallsPerSecond: 0, burst: 7 }, []],
    ["less than nothing", { cloudCallsPerSecond: -1, burst: 7 }, []],
    ["no number", { cloudCallsPerSecond: Number.NaN, burst: 7 }, []],
    ["without end", { cloudCallsPerSecond: Number.POSITIVE_INFINITY, burst: 7 }, []],
  ])("callRatesFromProto() of %s", (_name, declared, expected) => {
    expect(callRatesFromProto([{ classes: [INSTANCES], ...declared }])).toEqual(
      expected.map((rate) => ({ classes: ["instances"], ...rate })),
    );
  });

  test("callRatesFromProto() drops a rate of classes that are all unknown, and keeps one of all classes", () => {
    const rate = { cloudCallsPerSecond: 1, burst: 1 };
    expect(
      callRatesFromProto([
        { classes: [QuotaClass.UNRECOGNIZED], ...rate },
        { classes: [], ...rate },
      ]),
    ).toEqual([{ classes: [], ...rate }]);
  });
});
