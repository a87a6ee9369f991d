import { describe, expect, test } from "vitest";
import type { KnownServer } from "./server.ts";
import { addressesOf, type InstanceView, stateOf, toInstance } from "./to-instance.ts";

const view: InstanceView = {
  region: "one",
  regionInIds: false,
  internalNetworks: [],
  publicNetworks: [],
  ipFamilies: ["IPv4"],
};
const uuid = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";

const fixed = (addr: string, version = 4) => ({ addr, version, "OS-EXT-IPS:type": "fixed" });
const floating = (addr: string) => ({ addr, version: 4, "OS-EXT-IPS:type": "floating" });

const server: KnownServer = {
  id: uuid,
  name: "web-1",
  status: "ACTIVE",
  created: "2026-01-02T03:04:05Z",
  hostId: "abc",
  accessIPv4: "",
  accessIPv6: "",
  addresses: { private: [fixed("10.0.0.7"), floating("203.0.113.7"), fixed("fd00::7", 6)] },
  flavor: { original_name: "m1.small" },
  "OS-EXT-AZ:availability_zone": "nova",
  "OS-EXT-STS:task_state": null,
};

describe("toInstance()", () => {
  test("shows what Kubernetes takes over", () => {
    expect(toInstance(server, view)).toEqual({
      id: `/${uuid}`,
      name: "web-1",
      type: "m1.small",
      zone: "nova",
      region: "one",
      addresses: [
        { type: "InternalIP", address: "10.0.0.7" },
        { type: "ExternalIP", address: "203.0.113.7" },
        { type: "Hostname", address: "web-1" },
      ],
      state: "RUNNING",
      stateReason: undefined,
      labels: { "topology.openstack.org/host-id": "abc" },
      createTime: new Date("2026-01-02T03:04:05Z"),
    });
  });

  test("includes the region in IDs on request", () => {
    expect(toInstance(server, { ...view, regionInIds: true }).id).toBe(`one/${uuid}`);
  });

  test("maps an unscheduled server without zone and host", () => {
    const building = { ...server, status: "BUILD", hostId: "", "OS-EXT-AZ:availability_zone": "" };
    expect(toInstance(building, view)).toMatchObject({ state: "PENDING", stateReason: "BUILD", labels: {} });
    expect(toInstance(building, view).zone).toBeUndefined();
  });

  test("reports the failure", () => {
    const failed = { ...server, status: "ERROR", fault: { message: "No valid host was found." } };
    expect(toInstance(failed, view)).toMatchObject({ state: undefined, stateReason: "No valid host was found." });
  });
});

describe("stateOf()", () => {
  test.each([
    ["ACTIVE", null, "RUNNING"],
    ["ACTIVE", "powering-off", "STOPPING"],
    ["ACTIVE", "deleting", "TERMINATING"],
    ["ACTIVE", "rebooting", "RUNNING"],
    ["SHUTOFF", null, "STOPPED"],
    ["SHUTOFF", "powering-on", "STOPPED"],
    ["SHELVED_OFFLOADED", null, "STOPPED"],
    ["PAUSED", null, "RUNNING"],
    ["SUSPENDED", null, "RUNNING"],
    ["BUILD", "spawning", "PENDING"],
    ["SOFT_DELETED", null, "TERMINATING"],
    ["ERROR", null, undefined],
    ["SOMETHING_NEW", null, undefined],
  ])("takes %s with task %s for %s", (status, task, expected) => {
    expect(stateOf({ status, "OS-EXT-STS:task_state": task })).toBe(expected);
  });
});

describe("addressesOf()", () => {
  const two = {
    name: "web-1",
    addresses: { storage: [fixed("192.168.0.7")], nodes: [fixed("10.0.0.7")], edge: [fixed("198.51.100.7")] },
    accessIPv4: "203.0.113.9",
  };

  test.each([
    ["all networks by name", {}, ["InternalIP 198.51.100.7", "InternalIP 10.0.0.7", "InternalIP 192.168.0.7"]],
    ["the named one alone", { internalNetworks: ["nodes"] }, ["InternalIP 10.0.0.7"]],
    [
      "named ones in their order",
      { internalNetworks: ["storage", "nodes"] },
      ["InternalIP 192.168.0.7", "InternalIP 10.0.0.7"],
    ],
    [
      "a public one",
      { internalNetworks: ["nodes"], publicNetworks: ["edge"] },
      ["InternalIP 10.0.0.7", "ExternalIP 198.51.100.7"],
    ],
  ])("takes %s", (_what, more, expected) => {
    const texts = addressesOf(two, { ...view, ...more }).map(({ type, address }) => `${type} ${address}`);
    expect(texts).toEqual([...expected, "ExternalIP 203.0.113.9", "Hostname web-1"]);
  });

  test("keeps the order of families, and leaves out families that are not requested", () => {
    const both = addressesOf(server, { ...view, ipFamilies: ["IPv6", "IPv4"] });
    expect(both.map(({ address }) => address)).toEqual(["fd00::7", "10.0.0.7", "203.0.113.7", "web-1"]);
    const six = addressesOf(server, { ...view, ipFamilies: ["IPv6"] });
    expect(six.map(({ address }) => address)).toEqual(["fd00::7", "web-1"]);
  });
});
