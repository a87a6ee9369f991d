import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import type { KubeObject } from "../object.ts";
import { configMaps } from "../resources/config-maps.ts";
import { Store } from "../storage/store.ts";
import type { ListOptions } from "./query.ts";
import { parseListOptions } from "./query.ts";
import { type WatchEvent, openWatch } from "./watch.ts";

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

class FakeClock implements Clock {
  #now = 0;
  #timers: Timer[] = [];
  readonly nowMs = (): number => this.#now;

  readonly after = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { dueMs: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get pending(): number {
    return this.#timers.length;
  }

  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      const due = next;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#now = due.dueMs;
      due.callback();
    }
    this.#now = end;
  }

  #next(endMs: number): Timer | undefined {
    return this.#timers.filter(({ dueMs }) => dueMs <= endMs).sort((left, right) => left.dueMs - right.dueMs)[0];
  }
}

const table = "/configmaps";
const options = (query: string): ListOptions => parseListOptions(new URLSearchParams(query), true);
const map = (name: string, app = "x"): KubeObject => ({ metadata: { name, namespace: "ns", labels: { app } } });

describe("openWatch()", () => {
  let store: Store;
  let clock: FakeClock;
  let lines: string[];
  let ends: number;

  beforeEach(() => {
    store = new Store({ historyLimit: 100 });
    clock = new FakeClock();
    lines = [];
    ends = 0;
  });

  const open = (query: string): (() => void) =>
    openWatch({ store, clock, bookmarkIntervalMs: 60_000 }, configMaps, "ns", options(query), {
      send: (event) => lines.push(describeEvent(event)),
      end: () => {
        ends += 1;
      },
    });

  test("sends the state first, then changes", () => {
    store.put(table, "ns/a", map("a"));
    open("");
    store.put(table, "ns/a", map("a"));
    store.put(table, "other/a", { metadata: { name: "a", namespace: "other" } });
    store.delete(table, "ns/a");
    expect(lines).toEqual(["ADDED a 2", "MODIFIED a 3", "DELETED a 5"]);
  });

  test("resumes after a resourceVersion", () => {
    store.put(table, "ns/a", map("a"));
    store.put(table, "ns/b", map("b"));
    open("resourceVersion=2");
    store.delete(table, "ns/a");
    expect(lines).toEqual(["ADDED b 3", "DELETED a 4"]);
  });

  test("shows what enters and leaves a selector as added and deleted", () => {
    store.put(table, "ns/a", map("a", "y"));
    open("labelSelector=app%3Dx&resourceVersion=2");
    store.put(table, "ns/a", map("a", "x"));
    store.put(table, "ns/a", map("a", "x"));
    store.put(table, "ns/a", map("a", "y"));
    expect(lines).toEqual(["ADDED a 3", "MODIFIED a 4", "DELETED a 5"]);
  });

  test("ends with 410 in the stream when the history is gone", () => {
    store.put(table, "ns/a", map("a"));
    store.compact(2);
    open("resourceVersion=1");
    expect(lines).toEqual(["ERROR 410 Expired too old resource version: 1 (2)"]);
    expect(ends).toBe(1);
  });

  test("marks the end of the state with a bookmark, and sends one a minute", () => {
    store.put(table, "ns/a", map("a"));
    open("allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    store.put("/nodes", "n", { metadata: { name: "n" } });
    clock.advance(120_000);
    expect(lines).toEqual(["ADDED a 2", "BOOKMARK 2 end", "BOOKMARK 3", "BOOKMARK 3"]);
  });

  test("ends after timeoutSeconds and leaves no timer", () => {
    open("timeoutSeconds=30&allowWatchBookmarks=true");
    clock.advance(29_999);
    expect(ends).toBe(0);
    clock.advance(1);
    store.put(table, "ns/a", map("a"));
    expect([ends, clock.pending, lines]).toEqual([1, 0, ["BOOKMARK 1 end"]]);
  });

  test("leaves no timer and sends nothing after it was stopped", () => {
    const stop = open("allowWatchBookmarks=true");
    stop();
    store.put(table, "ns/a", map("a"));
    expect([clock.pending, lines]).toEqual([0, ["BOOKMARK 1 end"]]);
  });
});

function describeEvent(event: WatchEvent): string {
  switch (event.type) {
    case "BOOKMARK":
      return `BOOKMARK ${event.resourceVersion}${event.initialEventsEnd ? " end" : ""}`;
    case "ERROR":
      return `ERROR ${event.error.code} ${event.error.reason} ${event.error.message}`;
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return `${event.type} ${event.object.metadata.name} ${event.object.metadata.resourceVersion}`;
    default:
      return event satisfies never;
  }
}
