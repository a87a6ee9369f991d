import { describe, expect, test } from "vitest";
import * as reasons from "../../src/api/event.ts";
import { EVENT_SOURCES } from "../../src/api/controller-names.ts";
import { EVENT_MAKERS, EVENT_ROWS } from "./rows/event-rows.ts";

describe("the page of events", () => {
  test("has what each function that makes an event makes", () => {
    const shown = new Set(EVENT_ROWS.map(({ make }) => make));
    expect(EVENT_MAKERS.filter((make) => !shown.has(make))).toEqual([]);
  });

  test("has every reason, and no unknown one", () => {
    const shown = new Set(EVENT_ROWS.map(({ event }) => event.reason).filter((reason) => !reason.startsWith("<")));
    expect([...shown].toSorted()).toEqual(Object.values(reasons).toSorted());
  });

  test("has every source", () => {
    const shown = new Set(EVENT_ROWS.map(({ source }) => source));
    expect(Object.values(EVENT_SOURCES).filter((source) => !shown.has(source))).toEqual([]);
  });
});
