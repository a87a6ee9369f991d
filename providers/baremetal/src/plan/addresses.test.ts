import { describe, expect, test } from "vitest";
import type { Pool } from "../config/config.ts";
import { parseRange } from "@cloudwire/provider-sdk/addresses";
import { allocate } from "./addresses.ts";

const pool = (name: string, range: string, autoAssign = true): Pool => ({
  name,
  ranges: [parseRange(range) ?? expect.fail(range)],
  announce: "none",
  interface: "lo",
  autoAssign,
});
const pools = [
  pool("lan", "192.0.2.1-192.0.2.3"),
  pool("six", "2001:db8::/127"),
  pool("kept", "198.51.100.0/30", false),
];
const noOwner = (): undefined => undefined;
const plain = { families: ["IPv4"], requestedIps: [], pool: undefined, current: [] } as const;

describe("allocate()", () => {
  test.each([
    ["the first address of the first pool", plain, [], [{ address: "192.0.2.1", pool: "lan" }]],
    ["the first that is free", plain, ["192.0.2.1", "192.0.2.2"], [{ address: "192.0.2.3", pool: "lan" }]],
    [
      "one a family",
      { ...plain, families: ["IPv6", "IPv4"] as const },
      [],
      [
        { address: "2001:db8::", pool: "six" },
        { address: "192.0.2.1", pool: "lan" },
      ],
    ],
    [
      "the one it has, even where others are free",
      { ...plain, current: [{ address: "192.0.2.3", pool: "lan" }] },
      [],
      [{ address: "192.0.2.3", pool: "lan" }],
    ],
    [
      "one of the pool that is named, although it gives none by itself",
      { ...plain, pool: "kept", current: [{ address: "192.0.2.3", pool: "lan" }] },
      [],
      [{ address: "198.51.100.0", pool: "kept" }],
    ],
    [
      "the requested one, of any pool",
      { ...plain, requestedIps: ["198.51.100.2"], current: [{ address: "192.0.2.3", pool: "lan" }] },
      [],
      [{ address: "198.51.100.2", pool: "kept" }],
    ],
    [
      "the requested one, however it is written",
      { ...plain, families: ["IPv6"] as const, requestedIps: ["2001:0db8:0::1"] },
      [],
      [{ address: "2001:db8::1", pool: "six" }],
    ],
  ])("gives %s", (_, request, taken: readonly string[], allocated) => {
    expect(allocate(pools, request, (address) => (taken.includes(address) ? "other" : undefined))).toEqual(allocated);
  });

  test.each([
    ["a requested address in use", { ...plain, requestedIps: ["192.0.2.1"] }, "inUse", "192.0.2.1 is in use by other"],
    ["a requested address outside", { ...plain, requestedIps: ["203.0.113.1"] }, "outside", "in no address pool"],
    ["a pool that is not there", { ...plain, pool: "wan" }, "unknownPool", "there are: lan, six, kept"],
    ["pools that are used up", plain, "exhausted", "no IPv4 address is free in the address pools (lan, six)"],
  ])("says what is wrong with %s", (_, request, kind, message) => {
    expect(allocate(pools, request, () => "other")).toMatchObject({
      kind,
      message: expect.stringContaining(message),
    });
  });

  test("gives nothing of a pool that waits to be named", () => {
    expect(allocate(pools.slice(2), plain, noOwner)).toMatchObject({ kind: "exhausted" });
  });
});
