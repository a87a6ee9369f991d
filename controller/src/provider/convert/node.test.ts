import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { describe, expect, test } from "vitest";
import { CREATED_MS, node } from "../../../test/support/builders.ts";
import { nodeRef, targetNode } from "./node.ts";

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
    expect(nodeRef(subject, declared)).toEqual({
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
    expect(nodeRef(subject, NOTHING_DECLARED).createTime).toBeUndefined();
  });
});

describe("addresses of a node", () => {
  const long = `${"x".repeat(250)}.lan`;
  const many = Array.from({ length: 70 }, (_, index) => ({ type: "InternalIP", address: `10.0.0.${index}` }));

  test.each([
    ["an empty one is left out", [{ type: "InternalIP", address: "" }, ...many.slice(0, 1)], ["10.0.0.0"]],
    ["one that is too long is left out", [{ type: "Hostname", address: long }, ...many.slice(0, 1)], ["10.0.0.0"]],
    ["no more than the contract takes are sent", many, many.slice(0, 64).map(({ address }) => address)],
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
    expect(targetNode(subject, { nodeLabelKeys: ["rack"], nodeAnnotationKeys: [] })).toEqual({
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
