import { describe, expect, test } from "vitest";
import { node } from "../../../../test/support/builders.ts";
import type { Cidr } from "../../../util/cidr.ts";
import { parseCidr } from "../../../util/cidr.ts";
import type { Claim } from "./claim.ts";
import { type ClusterAddresses, reservedObjection } from "./reserved.ts";

const cidrs = (...texts: readonly string[]): readonly Cidr[] =>
  texts.map((text) => parseCidr(text)).filter((cidr) => cidr !== undefined);
const CLUSTER: ClusterAddresses = {
  kind: "known",
  services: cidrs("10.96.0.0/12", "fd00:10:96::/112"),
  apiServers: cidrs("192.0.2.10/32", "2001:db8::10/128"),
};
const reserved = (cluster: ClusterAddresses = CLUSTER, apiServerHost = "api.example") => ({ cluster, apiServerHost });
const claim = (ipAddresses: readonly string[], dnsNames: readonly string[] = []): Claim => {
  return { kind: "claim", nodeName: "a", ipAddresses, dnsNames };
};
const worker = node("a");
const controlPlane = node("a", { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } });

describe("reservedObjection() rejects", () => {
  test.each([
    { it: "an address of a Service", claimed: claim(["10.0.0.1", "10.96.0.1"]), on: worker, wrong: "10.96.0.1" },
    { it: "an IPv6 address of a Service", claimed: claim(["fd00:10:96::1"]), on: worker, wrong: "fd00:10:96::1" },
    { it: "one on a control-plane node", claimed: claim(["10.96.0.1"]), on: controlPlane, wrong: "10.96.0.1" },
    { it: "an IPv4-mapped one", claimed: claim(["::ffff:10.96.0.1"]), on: worker, wrong: "::ffff:10.96.0.1" },
    { it: "one as a DNS name", claimed: claim([], ["10.96.0.1"]), on: worker, wrong: "10.96.0.1" },
    { it: "an API server's", claimed: claim(["192.0.2.10"]), on: worker, wrong: "192.0.2.10" },
    { it: "an API server's IPv6 address", claimed: claim(["2001:db8::10"]), on: worker, wrong: "2001:db8::10" },
  ])("$it (case N-6)", ({ claimed, on, wrong }) => {
    expect(reservedObjection(claimed, on, reserved())).toEqual({
      kind: "objection",
      reason: "addressReserved",
      message: `these are addresses of Services or API servers: ${JSON.stringify(wrong)}`,
    });
  });

  test.each([
    { host: "10.0.0.100", claimed: claim(["10.0.0.100"]), wrong: "10.0.0.100" },
    { host: "2001:DB8:0::100", claimed: claim(["2001:db8::100"]), wrong: "2001:db8::100" },
    { host: "API.example", claimed: claim(["10.0.0.1"], ["api.example"]), wrong: "api.example" },
  ])("the address of a load balancer of API servers: $host (case N-6)", ({ host, claimed, wrong }) => {
    const message = `these are addresses of Services or API servers: ${JSON.stringify(wrong)}`;
    expect(reservedObjection(claimed, worker, reserved(CLUSTER, host))).toMatchObject({ message });
    expect(reservedObjection(claimed, controlPlane, reserved(CLUSTER, host))).toBeUndefined();
  });

  test("any address while those of the cluster are unknown (case N-6)", () => {
    expect(reservedObjection(claim(["10.0.0.1"]), worker, reserved({ kind: "unknown", message: "403" }))).toMatchObject(
      {
        reason: "clusterUnknown",
        message: "could not read the addresses of the cluster: 403",
      },
    );
  });
});

test.each([
  { it: "other addresses", claimed: claim(["10.0.0.1", "2001:db8::11"], ["a.example"]), on: worker },
  { it: "the API server's on a control-plane node", claimed: claim(["192.0.2.10"]), on: controlPlane },
])("reservedObjection() accepts $it", ({ claimed, on }) => {
  expect(reservedObjection(claimed, on, reserved())).toBeUndefined();
});

test("reservedObjection() accepts a name without address while the cluster is unknown", () => {
  expect(reservedObjection(claim([], ["a"]), worker, reserved({ kind: "unknown", message: "" }))).toBeUndefined();
});
