import { describe, expect, test } from "vitest";
import { orderByProvidedNodeIp } from "./provided-node-ip.ts";

const internal = (address: string) => ({ type: "InternalIP", address });
const external = (address: string) => ({ type: "ExternalIP", address });
const hostname = { type: "Hostname", address: "node-a" };

describe("orderByProvidedNodeIp()", () => {
  test.each([
    {
      it: "leaves the cloud's list alone without annotation",
      annotation: undefined,
      cloud: [external("1.1.1.1"), internal("10.0.0.1")],
      want: [external("1.1.1.1"), internal("10.0.0.1")],
      pinned: 0,
    },
    {
      it: "puts the wanted address first and drops others of its type",
      annotation: "10.0.0.2",
      cloud: [internal("10.0.0.1"), internal("10.0.0.2"), external("1.1.1.1"), hostname],
      want: [internal("10.0.0.2"), external("1.1.1.1"), hostname],
      pinned: 1,
    },
    {
      it: "compares addresses, not texts, and keeps the cloud's text",
      annotation: "2001:DB8:0::1",
      cloud: [internal("10.0.0.1"), internal("2001:db8::1")],
      want: [internal("2001:db8::1")],
      pinned: 1,
    },
    {
      it: "collapses both types onto an address that is internal and external",
      annotation: "10.0.0.1",
      cloud: [internal("10.0.0.9"), internal("10.0.0.1"), external("10.0.0.1"), external("1.1.1.1"), hostname],
      want: [internal("10.0.0.1"), external("10.0.0.1"), hostname],
      pinned: 2,
    },
    {
      it: "keeps exactly the two of a pair, in the annotation's order",
      annotation: "fd00::1,10.0.0.1",
      cloud: [internal("10.0.0.1"), internal("10.0.0.2"), internal("fd00::1"), internal("fd00::2"), hostname],
      want: [internal("fd00::1"), internal("10.0.0.1"), hostname],
      pinned: 2,
    },
    {
      it: "drops all other internal and external addresses when a pair is one of each",
      annotation: "10.0.0.1,fd00::1",
      cloud: [internal("10.0.0.1"), internal("10.0.0.2"), external("1.1.1.1"), external("fd00::1")],
      want: [internal("10.0.0.1"), external("fd00::1")],
      pinned: 2,
    },
    {
      it: "reads leading zeros as decimal",
      annotation: "010.0.0.01",
      cloud: [internal("10.0.0.1")],
      want: [internal("10.0.0.1")],
      pinned: 1,
    },
    {
      it: "keeps addresses of other types in the cloud's order",
      annotation: "10.0.0.1",
      cloud: [hostname, external("2.2.2.2"), internal("10.0.0.1"), external("1.1.1.1")],
      want: [internal("10.0.0.1"), hostname, external("2.2.2.2"), external("1.1.1.1")],
      pinned: 1,
    },
  ])("$it", ({ annotation, cloud, want, pinned }) => {
    expect(orderByProvidedNodeIp(annotation, cloud)).toEqual({ kind: "ordered", addresses: want, pinned });
  });

  test.each([
    { it: "an empty annotation", annotation: "", message: '"" holds "", which is not an IP address' },
    {
      it: "a text that is no IP",
      annotation: "node-a",
      message: '"node-a" holds "node-a", which is not an IP address',
    },
    {
      it: "a space after the comma",
      annotation: "10.0.0.1, fd00::1",
      message: '"10.0.0.1, fd00::1" holds " fd00::1", which is not an IP address',
    },
    {
      it: "three addresses",
      annotation: "10.0.0.1,fd00::1,10.0.0.2",
      message: '"10.0.0.1,fd00::1,10.0.0.2" holds 3 addresses, where one or two are allowed',
    },
    {
      it: "two addresses of one family",
      annotation: "10.0.0.1,10.0.0.2",
      message: '"10.0.0.1,10.0.0.2" holds two IPv4 addresses, where a pair is one of each family',
    },
    {
      it: "an unspecified address in a pair",
      annotation: "0.0.0.0,fd00::1",
      message: '"0.0.0.0,fd00::1" pairs an unspecified address with another',
    },
    {
      it: "an address that the cloud does not know",
      annotation: "10.0.0.7",
      message:
        "the cloud does not know 10.0.0.7 as an address of this machine (it knows: InternalIP 10.0.0.1, Hostname node-a)",
    },
    {
      it: "the second of a pair that the cloud does not know",
      annotation: "10.0.0.1,fd00::7",
      message:
        "the cloud does not know fd00:0:0:0:0:0:0:7 as an address of this machine (it knows: InternalIP 10.0.0.1, Hostname node-a)",
    },
  ])("says what is wrong with $it", ({ annotation, message }) => {
    expect(orderByProvidedNodeIp(annotation, [internal("10.0.0.1"), hostname])).toEqual({ kind: "mismatch", message });
  });

  test("says so when the cloud knows no address at all", () => {
    expect(orderByProvidedNodeIp("10.0.0.7", [])).toEqual({
      kind: "mismatch",
      message: "the cloud does not know 10.0.0.7 as an address of this machine (it knows: none)",
    });
  });
});
