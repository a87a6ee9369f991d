import { expect, test } from "vitest";
import { EventLoopDelay } from "./event-loop-delay.ts";

const milliseconds = (delay: EventLoopDelay): readonly number[] => {
  const { mean, max, p50, p99 } = delay.take();
  return [mean, max, p50, p99].map((seconds) => Math.round(seconds * 1000));
};

test.each<[string, readonly number[], readonly number[]]>([
  ["nothing before the timer ran", [], [0, 0, 0, 0]],
  ["nothing when it is in time, or early", [100, 200, 299], [0, 0, 0, 0]],
  ["the delay since the previous run", [100, 230, 330, 500], [25, 70, 0, 70]],
])("EventLoopDelay.take() returns %s", (_, ranAtMs, expected) => {
  const delay = new EventLoopDelay(100, 0);
  for (const ms of ranAtMs) delay.ran(ms);
  expect(milliseconds(delay)).toEqual(expected);
});

test("EventLoopDelay.take() resets the measurement", () => {
  const delay = new EventLoopDelay(100, 0);
  delay.ran(1100);
  expect(milliseconds(delay)).toEqual([1000, 1000, 1000, 1000]);
  expect(milliseconds(delay)).toEqual([0, 0, 0, 0]);
  delay.ran(1200);
  expect(milliseconds(delay)).toEqual([0, 0, 0, 0]);
});
