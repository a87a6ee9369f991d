import { describe, expect, test } from "vitest";
import { goneFrom, isInTable, parseRoutes, planRoutes } from "./routes.ts";

const table = { protocol: 77, table: 254 };
const route = (destination: string, gateway: string) => ({
  cluster: { id: "c" },
  destination,
  targetId: "m",
  gateway,
  isDeleting: false,
});
const kernel = (destination: string, gateway: string, protocol = 77) => ({ destination, gateway, protocol });
const a = "10.244.1.0/24";
const suffix = "proto 77 table 254";

describe("planRoutes()", () => {
  test.each([
    ["adds what is missing", [], [route(a, "10.0.0.1")], [], [`route add ${a} via 10.0.0.1 ${suffix}`], []],
    ["leaves routes that are up to date", [kernel(a, "10.0.0.1")], [route(a, "10.0.0.1")], [], [], []],
    [
      "moves a route of ours",
      [kernel(a, "10.0.0.9")],
      [route(a, "10.0.0.1")],
      [],
      [`route replace ${a} via 10.0.0.1 ${suffix}`],
      [],
    ],
    ["never replaces another's", [kernel(a, "10.0.0.9", 4)], [route(a, "10.0.0.1")], [], [], [a]],
    [
      "nor one that stands beside ours",
      [kernel(a, "10.0.0.1"), kernel(a, "10.0.0.9", 4)],
      [route(a, "10.0.0.1")],
      [],
      [],
      [a],
    ],
    [
      "removes ours",
      [kernel(a, "10.0.0.9")],
      [],
      [route(a, "10.0.0.1")],
      [`route del ${a} via 10.0.0.9 ${suffix}`],
      [],
    ],
    ["removes no other's", [kernel(a, "10.0.0.1", 4)], [], [route(a, "10.0.0.1")], [], []],
    ["knows what is gone", [], [], [route(a, "10.0.0.1")], [], []],
  ])("%s", (_, present, wanted, unwanted, commands, conflicts) => {
    expect(planRoutes(table, present, wanted, unwanted)).toEqual({ commands, conflicts: new Set(conflicts) });
  });
});

test.each([
  ["the same", kernel(a, "10.0.0.1"), true],
  ["another way", kernel(a, "10.0.0.2"), false],
  ["another owner's", kernel(a, "10.0.0.1", 4), false],
])("isInTable(): %s", (_, present, expected) => {
  expect(isInTable(table, [present], route(a, "10.0.0.1"))).toBe(expected);
});

test.each([
  ["nothing", [], [a]],
  ["ours", [kernel(a, "10.0.0.1")], []],
  ["ours, another way", [kernel(a, "10.0.0.2")], []],
  ["another owner's", [kernel(a, "10.0.0.1", 4)], [a]],
])("goneFrom() where the kernel has %s", (_, present, gone) => {
  expect(goneFrom(table, present, [route(a, "10.0.0.1")])).toEqual(new Set(gone));
});

test("parseRoutes() reads what ip prints: hosts, networks, both families, and no default", () => {
  const json = JSON.stringify([
    { dst: "default", gateway: "10.0.0.254", protocol: "3" },
    { dst: a, gateway: "10.0.0.1", protocol: "77" },
    { dst: "10.1.1.1", gateway: "10.0.0.2", protocol: "4" },
    { dst: "fd00::1", dev: "eth0", protocol: "2" },
  ]);
  expect(parseRoutes(json)).toEqual([
    kernel(a, "10.0.0.1"),
    kernel("10.1.1.1/32", "10.0.0.2", 4),
    { destination: "fd00::1/128", gateway: undefined, protocol: 2 },
  ]);
  expect(parseRoutes("")).toEqual([]);
});
