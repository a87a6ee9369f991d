import { QuotaClass } from "@cloudwire/proto/cloudprovider/v1/identity";
import { expect, test } from "vitest";
import { callRatesFromProto } from "./call-rate.ts";

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
