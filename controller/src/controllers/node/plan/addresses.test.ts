import { describe, expect, test } from "vitest";
import type { NodeAddress } from "../../../api/node.ts";
import { node } from "../../../../test/support/builders.ts";
import { addressesPatch, planInitialAddresses, planNextAddresses } from "./addresses.ts";

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
      message: 'annotation alpha.kubernetes.io/provided-node-ip: "x" holds "x", which is not an IP address',
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
      it: "those asked for are in order, wherever they stand",
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
      given: node("node-a", { status: { addresses: [internal("10.0.0.1"), internal("fd00::1")] } }),
      cloud: [internal("fd00::1")],
      want: [internal("fd00::1")],
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
