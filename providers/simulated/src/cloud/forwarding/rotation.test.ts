import { describe, expect, test } from "vitest";
import { manualClock } from "../../test/manual-clock.ts";
import { Rotation } from "./rotation.ts";

const targets = ["a", "b", "c"];

describe("Rotation.candidates()", () => {
  test("begins with the next target each time and goes round", () => {
    const rotation = new Rotation(() => 0);
    const orders = Array.from({ length: 4 }, () => [...rotation.candidates(targets)].join(""));
    expect(orders).toEqual(["abc", "bca", "cab", "abc"]);
  });

  test("puts a target that failed last, until it succeeds or five seconds have gone", () => {
    const clock = manualClock();
    const rotation = new Rotation(clock.now);
    const firstOf = () => [...rotation.candidates(targets, "client")].join("");
    const before = firstOf();
    const [first = ""] = before;
    rotation.failed(first);
    expect(firstOf()).toBe(before.slice(1) + first);
    clock.advance(5000);
    expect(firstOf()).toBe(before);
    rotation.failed(first);
    rotation.succeeded(first);
    expect(firstOf()).toBe(before);
  });

  test("begins with the same target for the same client", () => {
    const rotation = new Rotation(() => 0);
    const first = (client: string) => [...rotation.candidates(targets, client)][0];
    const clients = Array.from({ length: 30 }, (_, index) => `127.0.0.${index}`);
    expect(clients.map(first)).toEqual(clients.map(first));
    expect(new Set(clients.map(first))).toEqual(new Set(targets));
  });

  test("has none without targets", () => {
    expect([...new Rotation(() => 0).candidates([])]).toEqual([]);
  });
});
