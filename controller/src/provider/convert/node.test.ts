import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CREATED_MS, node } from "../../../test/support/builders.ts";
import { targetOf } from "../../../test/support/provider/client-harness.ts";
import type { TargetNode } from "../model/load-balancer.ts";
import { nodeRef, nodeRefToProto, nodeSelection, prepareTarget, targetNode, targetNodeToProto } from "./node.ts";

const selectionOf = (nodes: readonly TargetNode[]) => nodeSelection(nodes.map(prepareTarget));

const NOTHING_DECLARED = { nodeLabelKeys: [], nodeAnnotationKeys: [] };

describe("nodeRef()", () => {
  test("carries identity, hints and only declared labels and annotations", () => {
    const subject = node("n1", {
      metadata: {
        labels: { "acme.example.com/rack": "r1", "topology.kubernetes.io/zone": "a", secret: "no" },
        annotations: { "acme.example.com/vm": "vm-1", "alpha.kubernetes.io/provided-node-ip": "10.0.0.1,fd00::1" },
      },
      spec: { providerID: "acme://i-1" },
      status: {
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "Exotic", address: "x" },
        ],
      },
    });
    const declared = {
      nodeLabelKeys: ["acme.example.com/rack", "absent"],
      nodeAnnotationKeys: ["acme.example.com/vm"],
    };
    expect(nodeRefToProto(nodeRef(subject, declared))).toEqual({
      name: "n1",
      uid: "uid-n1",
      providerId: "acme://i-1",
      createTime: new Date(CREATED_MS),
      systemUuid: "system-n1",
      providedNodeIps: ["10.0.0.1", "fd00::1"],
      addresses: [{ type: NodeAddressType.INTERNAL_IP, address: "10.0.0.1" }],
      labels: { "acme.example.com/rack": "r1" },
      annotations: { "acme.example.com/vm": "vm-1" },
    });
  });

  test.each([
    ["no annotation", undefined, []],
    ["an empty annotation", "", []],
    ["one address", "10.0.0.1", ["10.0.0.1"]],
    ["more addresses than the contract takes", "10.0.0.1,10.0.0.2,10.0.0.3", []],
    ["an address longer than the contract takes", "1".repeat(65), []],
  ])("sends provided node IPs for %s", (_, value, expected) => {
    const annotations = value === undefined ? {} : { "alpha.kubernetes.io/provided-node-ip": value };
    expect(nodeRef(node("n1", { metadata: { annotations } }), NOTHING_DECLARED).providedNodeIps).toEqual(expected);
  });

  test("leaves the creation time out when the server did not say", () => {
    const subject = node("n1", { metadata: { creationTimestampMs: 0 } });
    expect(nodeRefToProto(nodeRef(subject, NOTHING_DECLARED)).createTime).toBeUndefined();
  });
});

describe("addresses of a node", () => {
  const long = `${"x".repeat(250)}.lan`;
  const many = Array.from({ length: 70 }, (_, index) => ({ type: "InternalIP", address: `10.0.0.${index}` }));

  test.each([
    ["an empty one is left out", [{ type: "InternalIP", address: "" }, ...many.slice(0, 1)], ["10.0.0.0"]],
    ["one that is too long is left out", [{ type: "Hostname", address: long }, ...many.slice(0, 1)], ["10.0.0.0"]],
    ["at most as many as the contract allows are sent", many, many.slice(0, 64).map(({ address }) => address)],
  ])("%s", (_, addresses, expected) => {
    const subject = node("n1", { spec: { providerID: "acme://i-1" }, status: { addresses } });
    expect(nodeRef(subject, NOTHING_DECLARED).addresses.map(({ address }) => address)).toEqual(expected);
    expect(targetNode(subject, NOTHING_DECLARED)?.addresses.map(({ address }) => address)).toEqual(expected);
  });
});

describe("targetNode()", () => {
  test("carries zone, addresses and declared labels", () => {
    const subject = node("n1", {
      metadata: { labels: { "topology.kubernetes.io/zone": "a", rack: "r1", other: "x" } },
      spec: { providerID: "acme://i-1" },
      status: { addresses: [{ type: "ExternalIP", address: "203.0.113.1" }] },
    });
    const target = targetNode(subject, { nodeLabelKeys: ["rack"], nodeAnnotationKeys: [] });
    expect(target && targetNodeToProto(target)).toEqual({
      name: "n1",
      providerId: "acme://i-1",
      addresses: [{ type: NodeAddressType.EXTERNAL_IP, address: "203.0.113.1" }],
      zone: "a",
      labels: { rack: "r1" },
    });
  });

  test("is undefined for a node without provider ID", () => {
    expect(targetNode(node("n1"), NOTHING_DECLARED)).toBeUndefined();
  });
});

describe("nodeSelection()", () => {
  const target = fc.record({
    name: fc.string({ minLength: 1, maxLength: 60 }),
    providerId: fc.stringMatching(/^[a-z0-9]{1,20}$/),
    addresses: fc.array(fc.record({ type: fc.constant("InternalIP"), address: fc.ipV4() }), {
      maxLength: 3,
    }),
    labels: fc.dictionary(fc.string(), fc.string()),
  });
  const zoned = fc.tuple(target, fc.constantFrom(undefined, "a", "b"));
  const targets = fc.uniqueArray(
    zoned.map(([parts, zone]): TargetNode => ({ ...parts, ...(zone === undefined ? {} : { zone }) })),
    { selector: ({ providerId }) => providerId },
  );

  test("counts the nodes and has the same fingerprint in any order", () => {
    fc.assert(
      fc.property(targets, (nodes) => {
        const selection = selectionOf(nodes);
        expect(selection).toMatchObject({ count: nodes.length, source: { kind: "inline", nodes } });
        expect(selectionOf(nodes.toReversed()).fingerprint).toBe(selection.fingerprint);
      }),
    );
  });

  test("leaves a node out that the contract does not allow, and says which and why", () => {
    const good = targetOf("n1", "acme://1");
    const bad = targetOf("n2", "acme://2", { zone: "z".repeat(64) });
    expect(selectionOf([bad, good])).toEqual({
      ...selectionOf([good]),
      leftOut: ["node n2: zone has 64 bytes; at most 63 are allowed"],
    });
  });

  test("has each machine once, whatever the order, for providers refuse a list with one twice", () => {
    const first = targetOf("n1", "acme://1");
    const second = targetOf("n2", "acme://1");
    const expected = {
      ...selectionOf([first]),
      leftOut: ["node n2: provider_id: acme://1 is also the ID of node n1"],
    };
    expect([selectionOf([first, second]), selectionOf([second, first])]).toEqual([expected, expected]);
  });

  test("leaves out a node on the instance of another, however its ID is written (case N-2)", () => {
    const first = targetOf("n1", "acme:///zone/AB");
    const second = targetOf("n2", "acme:///ab");
    const other = targetOf("n3", "beta:///ab");
    const expected = {
      ...selectionOf([first, other]),
      leftOut: ["node n2: provider_id: acme:///zone/AB is also the ID of node n1"],
    };
    expect(selectionOf([first, second, other])).toEqual(expected);
  });

  test("has another fingerprint with one node more or one address changed", () => {
    const one = targetOf("n1", "acme://1", { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] });
    const fingerprints = [
      [],
      [one],
      [one, { ...one, name: "n2", providerId: "acme://2" }],
      [{ ...one, zone: "a" }],
      [{ ...one, addresses: [{ type: "InternalIP", address: "10.0.0.2" }] }],
      [{ ...one, name: "n1\n", providerId: "acme://1" }],
    ].map((nodes) => selectionOf(nodes).fingerprint);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
    expect(fingerprints[0]).toMatch(/^n2-[0-9a-f]{40}$/);
  });
});
