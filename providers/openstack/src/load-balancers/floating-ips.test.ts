import { describe, expect, test } from "vitest";
import { type FloatingIp, ownershipDescription, planFloatingIp } from "./floating-ips.ts";

const ownDescription = ownershipDescription("c1", "u1");
const ip = (more: Partial<FloatingIp> = {}): FloatingIp => ({
  id: "f1",
  floating_ip_address: "203.0.113.7",
  port_id: "port",
  description: ownDescription,
  ...more,
});

describe("planFloatingIp()", () => {
  test.each([
    ["keeps what the port has", undefined, [ip()], { kind: "keep" }],
    ["keeps an address that a user attached to the port", undefined, [ip({ description: "" })], { kind: "keep" }],
    ["makes one", undefined, [], { kind: "create" }],
    ["takes up what an interrupted call has made", undefined, [ip({ port_id: null })], { kind: "associate" }],
    [
      "does not support an unrelated free address",
      undefined,
      [ip({ port_id: null, description: "" })],
      { kind: "create" },
    ],
    ["keeps the named one", "203.0.113.7", [ip()], { kind: "keep" }],
    ["takes the named one", "203.0.113.7", [ip({ port_id: null, description: "" })], { kind: "associate" }],
    ["asks for the named one", "203.0.113.8", [ip()], { kind: "create" }],
    [
      "refuses the named one that is in use",
      "203.0.113.7",
      [ip({ port_id: "other" })],
      { kind: "refuse", problem: { reason: "ADDRESS_IN_USE" } },
    ],
  ])("%s", (_what, wantedAddress, present, expected) => {
    expect(planFloatingIp(wantedAddress, present, "port", ownDescription)).toMatchObject(expected);
  });
});
