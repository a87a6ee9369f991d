import { describe, expect, test } from "vitest";
import { type Noted, Timeline } from "./observed-timeline.ts";

function noted(reason: string): Noted {
  return { kind: "event", by: "node-controller", reason, message: "why", isWarning: false };
}

describe("Timeline", () => {
  test("has what happened to an object, newest first", () => {
    const timeline = new Timeline();
    timeline.note("node/a", noted("One"), 1);
    timeline.note("node/b", noted("Other"), 2);
    timeline.note("node/a", noted("Two"), 3);
    expect(timeline.of("node/a")).toEqual([
      { ...noted("Two"), atMs: 3, count: 1 },
      { ...noted("One"), atMs: 1, count: 1 },
    ]);
    expect(timeline.of("node/c")).toEqual([]);
  });

  test("counts what happens again and again", () => {
    const timeline = new Timeline();
    for (const atMs of [1, 2, 3]) timeline.note("node/a", noted("One"), atMs);
    expect(timeline.of("node/a")).toEqual([{ ...noted("One"), atMs: 3, count: 3 }]);
    expect(timeline.size).toBe(1);
  });

  test("keeps the last few of an object", () => {
    const timeline = new Timeline({ perObject: 2, total: 100 });
    for (const atMs of [1, 2, 3]) timeline.note("node/a", noted(`At${atMs}`), atMs);
    expect(timeline.of("node/a").map(({ atMs }) => atMs)).toEqual([3, 2]);
    expect(timeline.size).toBe(2);
  });

  test("forgets whole objects, those first to which nothing has happened for longest", () => {
    const timeline = new Timeline({ perObject: 5, total: 3 });
    timeline.note("node/a", noted("One"), 1);
    timeline.note("node/b", noted("One"), 2);
    timeline.note("node/a", noted("Two"), 3);
    timeline.note("node/c", noted("One"), 4);
    expect([timeline.of("node/a").length, timeline.of("node/b").length, timeline.size]).toEqual([2, 0, 3]);
    timeline.note("node/c", noted("Two"), 5);
    expect([timeline.of("node/a").length, timeline.of("node/c").length, timeline.size]).toEqual([0, 2, 2]);
  });
});
