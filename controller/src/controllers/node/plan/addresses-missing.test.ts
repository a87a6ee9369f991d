import { describe, expect, test } from "vitest";
import { node } from "../../../../test/support/builders.ts";
import { planNextAddresses } from "./addresses.ts";

const internal = (address: string) => ({ type: "InternalIP", address });
const external = (address: string) => ({ type: "ExternalIP", address });
const hostname = (address: string) => ({ type: "Hostname", address });

describe("planNextAddresses()", () => {
  const external192 = external("192.0.2.1");
  test.each([
    {
      it: "only the host name",
      has: [internal("10.0.0.1"), external192],
      cloud: [hostname("node-a")],
      kept: "InternalIP 10.0.0.1",
    },
    {
      it: "only DNS names",
      has: [internal("10.0.0.1")],
      cloud: [{ type: "InternalDNS", address: "node-a.internal" }],
      kept: "InternalIP 10.0.0.1",
    },
    {
      it: "only the external address",
      has: [internal("10.0.0.1"), external192],
      cloud: [external192, hostname("node-a")],
      kept: "InternalIP 10.0.0.1",
    },
    {
      it: "only the host name of a Node with an external address",
      has: [external192],
      cloud: [hostname("node-a")],
      kept: "ExternalIP 192.0.2.1",
    },
    {
      it: "only a link-local address",
      has: [internal("fd00::1")],
      cloud: [internal("fe80::1"), internal("169.254.7.7")],
      kept: "InternalIP fd00::1",
    },
    {
      it: "one family of two",
      has: [internal("10.0.0.1"), internal("fd00::1")],
      cloud: [internal("10.0.0.1"), hostname("node-a")],
      kept: "InternalIP fd00::1",
    },
  ])("keeps the known addresses, and reports it, when the cloud reports $it (case N-4)", ({ has, cloud, kept }) => {
    const given = node("node-a", { status: { addresses: [...has, hostname("node-a")] } });
    expect(planNextAddresses(given, cloud)).toEqual({
      kind: "keep",
      lost: expect.stringMatching(
        new RegExp(`^the cloud no longer reports ${kept}, but .*; the Node keeps its addresses\\.`),
      ),
    });
  });

  test.each([
    {
      it: "of a family of two that the cloud reports",
      has: [internal("10.0.0.1"), internal("fd00::1")],
      cloud: [internal("fd00::2")],
      addresses: [internal("10.0.0.1"), internal("fd00::2")],
    },
    {
      it: "that the kubelet wrote beside one of a family that the cloud does not report",
      has: [internal("10.0.0.66"), internal("fd66::1"), external("192.0.2.66")],
      cloud: [internal("10.0.0.1"), external("192.0.2.1")],
      addresses: [internal("10.0.0.1"), external("192.0.2.1"), internal("fd66::1")],
    },
  ])("follows the cloud for the address $it (case N-4)", ({ has, cloud, addresses }) => {
    const given = node("node-a", { status: { addresses: has } });
    expect(planNextAddresses(given, cloud)).toMatchObject({ kind: "write", addresses });
  });
});
