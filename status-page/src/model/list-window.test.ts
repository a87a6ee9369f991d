import { describe, expect, test } from "vitest";
import { firstInSight, moveInList, scrollToShow, windowOf } from "./list-window.ts";

test.each([
  { what: "the top", scrollTop: 0, count: 100, start: 0, end: 15 },
  { what: "the middle", scrollTop: 1_000, count: 100, start: 48, end: 63 },
  { what: "the end", scrollTop: 1_800, count: 100, start: 87, end: 100 },
  { what: "a place past the end, as after a filter", scrollTop: 9_999, count: 100, start: 87, end: 100 },
  { what: "a place before the top, as where a touch pulls it", scrollTop: -50, count: 100, start: 0, end: 15 },
  { what: "a list that is shorter than the view", scrollTop: 0, count: 3, start: 0, end: 3 },
  { what: "nothing", scrollTop: 0, count: 0, start: 0, end: 0 },
])("windowOf() draws $what", ({ scrollTop, count, start, end }) => {
  expect(windowOf(scrollTop, 200, 20, count, 2)).toEqual({ start, end });
});

test.each([
  { what: "stays where the row is in sight", index: 5, scrollTop: 60, becomes: 60 },
  { what: "goes up to a row above", index: 1, scrollTop: 60, becomes: 20 },
  { what: "goes down to a row below, no further than needed", index: 20, scrollTop: 60, becomes: 220 },
  { what: "shows a row that is cut off", index: 13, scrollTop: 70, becomes: 80 },
])("scrollToShow() $what", ({ index, scrollTop, becomes }) => {
  expect(scrollToShow(index, scrollTop, 200, 20)).toBe(becomes);
});

test.each([
  { what: "the top", scrollTop: 0, count: 100, first: 0 },
  { what: "a row that is cut off", scrollTop: 70, count: 100, first: 4 },
  { what: "a place before the top", scrollTop: -50, count: 100, first: 0 },
  { what: "a place past the end", scrollTop: 9_999, count: 100, first: 99 },
  { what: "a list without rows", scrollTop: 0, count: 0, first: -1 },
])("firstInSight() is $first at $what", ({ scrollTop, count, first }) => {
  expect(firstInSight(scrollTop, 20, count)).toBe(first);
});

describe("moveInList()", () => {
  test.each([
    { key: "ArrowDown", from: 5, to: 6 },
    { key: "ArrowDown", from: 99, to: 99 },
    { key: "ArrowUp", from: 5, to: 4 },
    { key: "ArrowUp", from: 0, to: 0 },
    { key: "PageDown", from: 95, to: 99 },
    { key: "PageUp", from: 25, to: 15 },
    { key: "Home", from: 5, to: 0 },
    { key: "End", from: 5, to: 99 },
  ])("$key leads from $from to $to", ({ key, from, to }) => {
    expect(moveInList(key, { active: from, first: 0, count: 100, page: 10 })).toBe(to);
  });

  test.each([
    { key: "ArrowDown", to: 40 },
    { key: "ArrowUp", to: 40 },
    { key: "PageDown", to: 40 },
    { key: "Home", to: 0 },
    { key: "End", to: 99 },
  ])("$key leads to $to where no row is active, and 40 is the first in sight", ({ key, to }) => {
    expect(moveInList(key, { active: -1, first: 40, count: 100, page: 10 })).toBe(to);
  });

  test("leaves other keys to others", () => {
    expect(moveInList("a", { active: 5, first: 0, count: 100, page: 10 })).toBeUndefined();
    expect(moveInList("a", { active: -1, first: 0, count: 100, page: 10 })).toBeUndefined();
  });
});
