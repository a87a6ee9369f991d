import { describe, expect, test } from "vitest";
import { node } from "../../../../test/support/builders.ts";
import { addressesPatch, planAddresses } from "./addresses.ts";

const internal = (address: string) => ({ type: "InternalIP", address });
const external = (address: string) => ({ type: "ExternalIP", address });
const hostname = (address: string) => ({ type: "Hostname", address });

describe("planAddresses()", () => {
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
    expect(planAddresses(node("node-a", { status: { addresses: has } }), cloud)).toEqual({
      kind: "write",
      addresses: want,
    });
  });

  test.each([
    { it: "the cloud names none", has: [internal("10.0.0.1")], cloud: [] },
    { it: "both lists are the same", has: [internal("10.0.0.1")], cloud: [internal("10.0.0.1")] },
    {
      it: "a dual-stack list is the same, which upstream takes for a change",
      has: [internal("10.0.0.1"), internal("fd00::1"), hostname("node-a")],
      cloud: [internal("10.0.0.1"), internal("fd00::1")],
    },
  ])("keeps the addresses when $it", ({ has, cloud }) => {
    expect(planAddresses(node("node-a", { status: { addresses: has } }), cloud)).toEqual({ kind: "keep" });
  });

  test("passes on what is wrong with the annotation", () => {
    const annotated = node("node-a", { metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "x" } } });
    expect(planAddresses(annotated, [internal("10.0.0.1")])).toEqual({
      kind: "mismatch",
      message: 'annotation alpha.kubernetes.io/provided-node-ip: "x" holds "x", which is not an IP address',
    });
  });

  test("refuses a wanted address when the cloud names none, so that the taint stays", () => {
    const annotated = node("node-a", {
      metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.1" } },
    });
    expect(planAddresses(annotated, [])).toMatchObject({ kind: "mismatch" });
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
