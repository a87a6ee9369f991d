import { describe, expect, test } from "vitest";
import { node } from "../../../../test/support/builders.ts";
import type { NodeAddress } from "../../../api/node.ts";
import {
  addressesPatch,
  isUnspecified,
  orderByProvidedNodeIp,
  parseIp,
  planInitialAddresses,
  planNextAddresses,
} from "./addresses.ts";

const internal = (address: string) => ({ type: "InternalIP", address });
const external = (address: string) => ({ type: "ExternalIP", address });
const hostname = (address: string) => ({ type: "Hostname", address });

describe("planInitialAddresses()", () => {
  test.each([
    {
      it: "writes the cloud's addresses on a node that has none",
      has: [],
      cloud: [internal("10.0.0.1"), external("1.1.1.1")],
      want: [internal("10.0.0.1"), external("1.1.1.1")],
    },
    {
      it: "keeps the node's own hostname when the cloud names none",
      has: [hostname("node-a"), internal("10.9.9.9")],
      cloud: [internal("10.0.0.1")],
      want: [internal("10.0.0.1"), hostname("node-a")],
    },
    {
      it: "takes the cloud's hostname over the node's",
      has: [hostname("node-a")],
      cloud: [internal("10.0.0.1"), hostname("vm-1")],
      want: [internal("10.0.0.1"), hostname("vm-1")],
    },
    {
      it: "writes when only the order differs",
      has: [internal("10.0.0.1"), internal("fd00::1")],
      cloud: [internal("fd00::1"), internal("10.0.0.1")],
      want: [internal("fd00::1"), internal("10.0.0.1")],
    },
  ])("$it", ({ has, cloud, want }) => {
    expect(planInitialAddresses(node("node-a", { status: { addresses: has } }), cloud)).toEqual({
      kind: "write",
      addresses: want,
    });
  });

  test.each([
    { it: "the cloud names none", has: [internal("10.0.0.1")], cloud: [] },
    { it: "the cloud has only the host name (case N-4)", has: [internal("10.0.0.1")], cloud: [hostname("node-a")] },
    { it: "both lists are the same", has: [internal("10.0.0.1")], cloud: [internal("10.0.0.1")] },
    {
      it: "a dual-stack list is the same, which upstream takes for a change",
      has: [internal("10.0.0.1"), internal("fd00::1"), hostname("node-a")],
      cloud: [internal("10.0.0.1"), internal("fd00::1")],
    },
  ])("keeps the addresses when $it", ({ has, cloud }) => {
    expect(planInitialAddresses(node("node-a", { status: { addresses: has } }), cloud)).toEqual({ kind: "keep" });
  });

  test("passes on what is wrong with the annotation", () => {
    const annotated = node("node-a", { metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "x" } } });
    expect(planInitialAddresses(annotated, [internal("10.0.0.1")])).toEqual({
      kind: "mismatch",
      message: 'annotation alpha.kubernetes.io/provided-node-ip: "x" contains "x", which is not an IP address',
    });
  });

  test("refuses a wanted address when the cloud names none, so that the taint stays", () => {
    const annotated = node("node-a", {
      metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.1" } },
    });
    expect(planInitialAddresses(annotated, [])).toMatchObject({ kind: "mismatch" });
  });
});

describe("planNextAddresses()", () => {
  const annotated = (annotation: string, has: readonly NodeAddress[]) =>
    node("node-a", {
      metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": annotation } },
      status: { addresses: has },
    });

  test.each([
    {
      it: "a dual-stack list comes in another order",
      given: node("node-a", { status: { addresses: [internal("10.0.0.1"), internal("fd00::1"), hostname("node-a")] } }),
      cloud: [internal("fd00::1"), internal("10.0.0.1")],
    },
    {
      it: "kubelet put its hostname first",
      given: node("node-a", { status: { addresses: [hostname("node-a"), internal("10.0.0.1")] } }),
      cloud: [internal("10.0.0.1")],
    },
    { it: "the cloud names none", given: node("node-a", { status: { addresses: [internal("10.0.0.1")] } }), cloud: [] },
    {
      it: "requested addresses are in order at any position",
      given: annotated("fd00::1,10.0.0.1", [hostname("node-a"), internal("fd00::1"), internal("10.0.0.1")]),
      cloud: [internal("10.0.0.1"), internal("fd00::1"), internal("10.0.0.2")],
    },
  ])("keeps the addresses when $it", ({ given, cloud }) => {
    expect(planNextAddresses(given, cloud)).toEqual({ kind: "keep" });
  });

  test.each([
    {
      it: "one is new",
      given: node("node-a", { status: { addresses: [internal("10.0.0.1")] } }),
      cloud: [internal("fd00::1"), internal("10.0.0.1")],
      want: [internal("fd00::1"), internal("10.0.0.1")],
    },
    {
      it: "one is gone",
      given: node("node-a", { status: { addresses: [internal("10.0.0.1"), external("192.0.2.1")] } }),
      cloud: [internal("10.0.0.1")],
      want: [internal("10.0.0.1")],
    },
    {
      it: "one has another type",
      given: node("node-a", { status: { addresses: [internal("10.0.0.1")] } }),
      cloud: [external("10.0.0.1")],
      want: [external("10.0.0.1")],
    },
    {
      it: "one of two alike is gone",
      given: node("node-a", { status: { addresses: [internal("10.0.0.1"), internal("10.0.0.2")] } }),
      cloud: [internal("10.0.0.1"), internal("10.0.0.3")],
      want: [internal("10.0.0.1"), internal("10.0.0.3")],
    },
    {
      it: "those asked for are in another order",
      given: annotated("fd00::1,10.0.0.1", [internal("10.0.0.1"), internal("fd00::1")]),
      cloud: [internal("10.0.0.1"), internal("fd00::1")],
      want: [internal("fd00::1"), internal("10.0.0.1")],
    },
  ])("writes them when $it", ({ given, cloud, want }) => {
    expect(planNextAddresses(given, cloud)).toEqual({ kind: "write", addresses: want });
  });

  test("passes on what does not fit the annotation", () => {
    expect(planNextAddresses(annotated("10.0.0.7", []), [internal("10.0.0.1")])).toMatchObject({ kind: "mismatch" });
  });
});

describe("addressesPatch()", () => {
  test("sends a plain list to a node without addresses", () => {
    expect(addressesPatch(node("node-a"), [internal("10.0.0.1")])).toEqual({
      metadata: { uid: "uid-node-a" },
      status: { addresses: [internal("10.0.0.1")] },
    });
  });

  test("replaces the list of a node that has addresses, which would merge by type", () => {
    const addressed = node("node-a", { status: { addresses: [internal("10.9.9.9")] } });
    expect(addressesPatch(addressed, [internal("10.0.0.1"), internal("fd00::1")])).toEqual({
      metadata: { uid: "uid-node-a" },
      status: { addresses: [internal("10.0.0.1"), internal("fd00::1"), { $patch: "replace" }] },
    });
  });
});

describe("provided node ip", () => {
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
      { it: "an empty annotation", annotation: "", message: '"" contains "", which is not an IP address' },
      {
        it: "a text that is no IP",
        annotation: "node-a",
        message: '"node-a" contains "node-a", which is not an IP address',
      },
      {
        it: "a space after the comma",
        annotation: "10.0.0.1, fd00::1",
        message: '"10.0.0.1, fd00::1" contains " fd00::1", which is not an IP address',
      },
      {
        it: "three addresses",
        annotation: "10.0.0.1,fd00::1,10.0.0.2",
        message: '"10.0.0.1,fd00::1,10.0.0.2" contains 3 addresses; one or two are allowed',
      },
      {
        it: "two addresses of one family",
        annotation: "10.0.0.1,10.0.0.2",
        message: '"10.0.0.1,10.0.0.2" contains two IPv4 addresses; two must be of different families',
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
          "10.0.0.7 is not an address of this instance in the cloud (its addresses: InternalIP 10.0.0.1, Hostname node-a)",
      },
      {
        it: "the second of a pair that the cloud does not know",
        annotation: "10.0.0.1,fd00::7",
        message:
          "fd00::7 is not an address of this instance in the cloud (its addresses: InternalIP 10.0.0.1, Hostname node-a)",
      },
    ])("says what is wrong with $it", ({ annotation, message }) => {
      expect(orderByProvidedNodeIp(annotation, [internal("10.0.0.1"), hostname])).toEqual({
        kind: "mismatch",
        message,
      });
    });

    test("says so when the cloud knows no address at all", () => {
      expect(orderByProvidedNodeIp("10.0.0.7", [])).toEqual({
        kind: "mismatch",
        message: "10.0.0.7 is not an address of this instance in the cloud (its addresses: none)",
      });
    });
  });
});

describe("ip address", () => {
  describe("parseIp()", () => {
    test.each([
      { it: "reads dotted IPv4", text: "10.0.0.1", family: "IPv4", as: "10.0.0.1" },
      { it: "takes leading zeros as decimal", text: "010.000.00.09", family: "IPv4", as: "10.0.0.9" },
      { it: "reads the largest octets", text: "255.255.255.255", family: "IPv4", as: "255.255.255.255" },
      { it: "writes IPv6 in canonical form", text: "2001:DB8::1", family: "IPv6", as: "2001:db8::1" },
      { it: "reads IPv6 without compression", text: "1:2:3:4:5:6:7:8", family: "IPv6", as: "1:2:3:4:5:6:7:8" },
      { it: "reads the unspecified IPv6 address", text: "::", family: "IPv6", as: "::" },
      { it: "reads compression of one group", text: "1:2:3:4:5:6::8", family: "IPv6", as: "1:2:3:4:5:6:0:8" },
      {
        it: "leaves an address with ffff before IPv4 alone that is not mapped",
        text: "1::ffff:10.0.0.1",
        family: "IPv6",
        as: "1::ffff:a00:1",
      },
      { it: "reads compression at the end", text: "fe80::", family: "IPv6", as: "fe80::" },
      {
        it: "reads IPv4 at the end of IPv6",
        text: "64:ff9b::192.1.2.33",
        family: "IPv6",
        as: "64:ff9b::c001:221",
      },
      {
        it: "reads IPv4 at the end of IPv6 without compression",
        text: "64:ff9b:0:0:0:0:192.1.2.33",
        family: "IPv6",
        as: "64:ff9b::c001:221",
      },
      { it: "takes a mapped address for IPv4", text: "::ffff:10.0.0.1", family: "IPv4", as: "10.0.0.1" },
      { it: "takes a mapped address in hex for IPv4", text: "::FFFF:0a00:0001", family: "IPv4", as: "10.0.0.1" },
    ])("$it", ({ text, family, as }) => {
      expect(parseIp(text)).toEqual({ family, text: as });
    });

    test.each([
      "",
      "10.0.0",
      "10.0.0.1.2",
      "10.0.0.256",
      "10.0.0.-1",
      "10.0.0.1 ",
      "10.0.0.",
      "host",
      "fe80::1%eth0",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      "1:2:3:4:5:6:7::8",
      ":1:2:3:4:5:6:7",
      "12345::",
      "1.2.3.4::1",
      "::1.2.3.4:1",
      "g::1",
    ])("answers undefined for %j", (text) => {
      expect(parseIp(text)).toBeUndefined();
    });
  });

  describe("isUnspecified()", () => {
    test.each([
      { text: "0.0.0.0", is: true },
      { text: "::", is: true },
      { text: "::ffff:0.0.0.0", is: true },
      { text: "0.0.0.1", is: false },
      { text: "::1", is: false },
    ])("is $is for $text", ({ text, is }) => {
      const ip = parseIp(text);
      expect(ip === undefined ? undefined : isUnspecified(ip)).toBe(is);
    });
  });
});
