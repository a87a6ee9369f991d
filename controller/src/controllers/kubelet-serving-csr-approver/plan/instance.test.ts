import { describe, expect, test } from "vitest";
import { instance } from "../../../../test/support/builders.ts";
import { contractError } from "../../../provider/model/errors.ts";
import type { Instance, InstanceResult } from "../../../provider/model/instance.ts";
import type { Claim } from "./claim.ts";
import { evaluateClaim } from "./instance.ts";

const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 0 };

const ADDRESSES = [
  { type: "InternalIP", address: "10.0.0.1" },
  { type: "ExternalIP", address: "203.0.113.7" },
  { type: "InternalIP", address: "fd00::1" },
  { type: "InternalDNS", address: "Node-A.internal" },
  { type: "ExternalDNS", address: "a.example" },
];

function present(parts: Partial<Instance> = {}): InstanceResult {
  return { kind: "present", instance: instance({ addresses: ADDRESSES, ...parts }), readTimeMs: 0, witness };
}

function claim(parts: Partial<Claim> = {}): Claim {
  return { kind: "claim", nodeName: "node-a", dnsNames: ["node-a"], ipAddresses: ["10.0.0.1"], ...parts };
}

describe("evaluateClaim() confirms", () => {
  test.each<{ readonly it: string; readonly claim?: Partial<Claim>; readonly instance?: Partial<Instance> }>([
    { it: "the node's name and an address of its machine" },
    {
      it: "all names and addresses of its machine",
      claim: {
        dnsNames: ["node-a", "node-a.internal", "a.example"],
        ipAddresses: ["10.0.0.1", "203.0.113.7", "fd00::1"],
      },
    },
    { it: "names alone", claim: { ipAddresses: [] } },
    { it: "a machine that the cloud calls so in capitals", instance: { name: "NODE-A" } },
    {
      it: "a machine of another name whose address is the node's name",
      claim: { nodeName: "node-a.internal", dnsNames: ["node-a.internal"] },
      instance: { name: "i-1" },
    },
    {
      it: "a machine whose host name is the node's name",
      instance: { name: "i-1", addresses: [...ADDRESSES, { type: "Hostname", address: "node-a" }] },
    },
    { it: "a machine that starts", instance: { state: "pending" } },
    { it: "a machine whose state no one says", instance: { state: "unknown" } },
    {
      it: "an address that is the machine's host name",
      claim: { ipAddresses: ["10.0.0.9"] },
      instance: { addresses: [{ type: "Hostname", address: "10.0.0.9" }] },
    },
  ])("$it", ({ claim: parts, instance: facts }) => {
    const confirmation = { kind: "confirmation", providerId: "acme://1" };
    expect(evaluateClaim(claim(parts), { answer: present(facts), untrustedReason: undefined })).toEqual(confirmation);
  });
});

interface Row {
  readonly it: string;
  readonly reason: string;
  readonly message: string;
  readonly claim?: Partial<Claim>;
  readonly answer: InstanceResult;
  readonly untrustedReason?: string;
}

const rows: readonly Row[] = [
  {
    it: "the provider that says so is not trusted",
    reason: "providerUntrusted",
    message: "its provider is not trusted: it works in another scope",
    answer: present(),
    untrustedReason: "it works in another scope",
  },
  {
    it: "the cloud cannot be asked",
    reason: "instanceUnknown",
    message: "could not look up its instance: 503",
    answer: { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "503") },
  },
  {
    it: "no provider owns the Node",
    reason: "instanceNotOwned",
    message: "no provider owns its instance: unowned",
    answer: { kind: "notOwned", message: "unowned" },
  },
  {
    it: "there is no machine",
    reason: "instanceNotFound",
    message: "its instance does not exist",
    answer: { kind: "absent", basis: "lookupMiss", observeTimeMs: 0, strong: true, witness },
  },
  {
    it: "the machine stops",
    reason: "instanceNotRunning",
    message: `its instance "acme://1" is stopping`,
    answer: present({ state: "stopping" }),
  },
  {
    it: "the machine is off",
    reason: "instanceNotRunning",
    message: `its instance "acme://1" is stopped`,
    answer: present({ state: "stopped" }),
  },
  {
    it: "the machine is being deleted",
    reason: "instanceNotRunning",
    message: `its instance "acme://1" is terminating`,
    answer: present({ state: "terminating" }),
  },
  {
    it: "the Node has taken another machine for its own",
    reason: "nodeNameUnconfirmed",
    message: `the name of instance "acme://1" is not "node-a", but "node-b", "node-b.internal"`,
    answer: present({
      name: "node-b",
      addresses: [...ADDRESSES.slice(0, 1), { type: "InternalDNS", address: "node-b.internal" }],
    }),
  },
  {
    it: "the name is an address of another type",
    reason: "nodeNameUnconfirmed",
    message: `the name of instance "acme://1" is not "10.0.0.1", but "node-b"`,
    claim: { nodeName: "10.0.0.1", dnsNames: [] },
    answer: present({ name: "node-b", addresses: ADDRESSES.slice(0, 1) }),
  },
  {
    it: "an address is another machine's",
    reason: "addressUnknown",
    message: `instance "acme://1" does not have "10.0.0.2", but "10.0.0.1"`,
    claim: { ipAddresses: ["10.0.0.1", "10.0.0.2"] },
    answer: present({ addresses: ADDRESSES.slice(0, 1) }),
  },
  {
    it: "the machine has no address yet",
    reason: "addressUnknown",
    message: `instance "acme://1" does not have "10.0.0.1", but none`,
    answer: present({ addresses: [] }),
  },
  {
    it: "an address is an IPv6 address of another machine",
    reason: "addressUnknown",
    message: `instance "acme://1" does not have "fd00::2", but "10.0.0.1"`,
    claim: { ipAddresses: ["fd00::2"] },
    answer: present({ addresses: ADDRESSES.slice(0, 1) }),
  },
  {
    it: "a name is another machine's",
    reason: "dnsNameUnknown",
    message: `the name of instance "acme://1" is not "node-b", but "node-a", "a.example"`,
    claim: { dnsNames: ["node-a", "node-b"] },
    answer: present({ addresses: [...ADDRESSES.slice(0, 1), { type: "ExternalDNS", address: "a.example" }] }),
  },
  {
    it: "a name is an address of the machine",
    reason: "dnsNameUnknown",
    message: `the name of instance "acme://1" is not "10.0.0.1", but "node-a"`,
    claim: { dnsNames: ["10.0.0.1"] },
    answer: present({ addresses: ADDRESSES.slice(0, 1) }),
  },
];

describe("evaluateClaim() objects when", () => {
  test.each(rows)("$it", ({ reason, message, claim: parts, answer, untrustedReason }) => {
    expect(evaluateClaim(claim(parts), { answer, untrustedReason })).toEqual({ kind: "objection", reason, message });
  });
});
