import { describe, expect, test } from "vitest";
import { addressesOf, type InstanceView, type KnownMachine, knownMachine, toInstance } from "./to-instance.ts";

const view: InstanceView = {
  region: "us-east-1",
  nodeNames: { kind: "privateDnsName" },
  ipFamilies: ["IPv4"],
  zoneIds: new Map([["us-east-1a", "use1-az6"]]),
};
const machine: KnownMachine = {
  InstanceId: "i-0123456789abcdef0",
  zone: "us-east-1a",
  InstanceType: "m5.large",
  State: { Name: "running" },
  PrivateIpAddress: "10.0.1.4",
  PrivateDnsName: "ip-10-0-1-4.ec2.internal",
  Tags: [{ Key: "Name", Value: "web-1" }],
};

test("toInstance() shows what Kubernetes takes over", () => {
  expect(toInstance(machine, view)).toEqual({
    id: "/us-east-1a/i-0123456789abcdef0",
    name: "ip-10-0-1-4.ec2.internal",
    type: "m5.large",
    zone: "us-east-1a",
    region: "us-east-1",
    addresses: [
      { type: "InternalIP", address: "10.0.1.4" },
      { type: "InternalDNS", address: "ip-10-0-1-4.ec2.internal" },
      { type: "Hostname", address: "ip-10-0-1-4.ec2.internal" },
    ],
    state: "RUNNING",
    labels: { "topology.k8s.aws/zone-id": "use1-az6" },
    createTime: undefined,
  });
});

test.each([
  ["pending", "PENDING"],
  ["running", "RUNNING"],
  ["stopping", "STOPPING"],
  ["stopped", "STOPPED"],
  ["shutting-down", "TERMINATING"],
] as const)("toInstance() calls %s %s", (name, state) => {
  expect(toInstance({ ...machine, State: { Name: name } }, view).state).toBe(state);
});

test("toInstance() names a machine by its tag, or by its id without one", () => {
  const tagged = { ...view, nodeNames: { kind: "tag", key: "Name" } } as const;
  expect(toInstance(machine, tagged).name).toBe("web-1");
  expect(toInstance({ ...machine, Tags: [] }, tagged).name).toBe("i-0123456789abcdef0");
});

test("knownMachine() refuses a machine without zone", () => {
  expect(knownMachine({ InstanceId: "i-01234567" })).toBeUndefined();
});

describe("addressesOf()", () => {
  const interfaces = [
    {
      Status: "in-use",
      Attachment: { DeviceIndex: 1 },
      PrivateIpAddresses: [{ PrivateIpAddress: "10.0.2.4" }],
      Ipv6Addresses: [{ Ipv6Address: "2001:db8::2" }],
    },
    {
      Status: "in-use",
      Attachment: { DeviceIndex: 0 },
      PrivateIpAddresses: [{ PrivateIpAddress: "10.0.1.4" }, { PrivateIpAddress: "10.0.1.5" }],
      Ipv6Addresses: [{ Ipv6Address: "2001:db8::1" }, { Ipv6Address: "2001:db8::9" }],
    },
    { Status: "detaching", PrivateIpAddresses: [{ PrivateIpAddress: "10.0.3.4" }] },
  ] as const;
  const full = {
    NetworkInterfaces: interfaces.map((one) => ({
      ...one,
      PrivateIpAddresses: [...one.PrivateIpAddresses],
      Ipv6Addresses: "Ipv6Addresses" in one ? [...one.Ipv6Addresses] : [],
    })),
    PublicIpAddress: "198.51.100.7",
    PublicDnsName: "ec2-198-51-100-7.compute.amazonaws.com",
  };
  const of = (families: readonly ("IPv4" | "IPv6")[]) =>
    addressesOf(full, families).map(({ type, address }) => `${type} ${address}`);

  test("returns the addresses of each used interface, the first device's first", () => {
    expect(of(["IPv4"])).toEqual([
      "InternalIP 10.0.1.4",
      "InternalIP 10.0.1.5",
      "InternalIP 10.0.2.4",
      "ExternalIP 198.51.100.7",
      "ExternalDNS ec2-198-51-100-7.compute.amazonaws.com",
    ]);
  });

  test("returns the families in the desired order, with one IPv6 address per interface", () => {
    expect(of(["IPv6", "IPv4"])).toEqual([
      "InternalIP 2001:db8::1",
      "InternalIP 2001:db8::2",
      "InternalIP 10.0.1.4",
      "InternalIP 10.0.1.5",
      "InternalIP 10.0.2.4",
      "ExternalIP 198.51.100.7",
      "ExternalDNS ec2-198-51-100-7.compute.amazonaws.com",
    ]);
  });
});
