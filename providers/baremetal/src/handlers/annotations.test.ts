import { describe, expect, test } from "vitest";
import { domain, readAnnotations } from "./annotations.ts";

const tcp = { protocol: "TCP" } as const;
const udp = { protocol: "UDP" } as const;
const key = (name: string): string => `${domain}/${name}`;

describe("readAnnotations()", () => {
  test.each([
    ["TCP", undefined, {}, [tcp], "Cluster", "haproxy"],
    ["UDP", undefined, {}, [udp], "Cluster", "nftables"],
    ["both", undefined, {}, [tcp, udp], "Cluster", "nftables"],
    ["policy Local, which keeps clients' addresses", undefined, {}, [tcp], "Local", "nftables"],
    ["an annotation", undefined, { [key("forwarder")]: "nftables" }, [tcp], "Cluster", "nftables"],
    ["an annotation against the policy", undefined, { [key("forwarder")]: "haproxy" }, [tcp], "Local", "haproxy"],
    ["a class", key("nftables"), { [key("forwarder")]: "haproxy" }, [tcp], "Cluster", "nftables"],
  ] as const)("chooses by %s", (_, loadBalancerClass, annotations, ports, policy, forwarder) => {
    expect(readAnnotations(loadBalancerClass, annotations, ports, policy).forwarder).toBe(forwarder);
  });

  test("refuses UDP by HAProxy", () => {
    expect(() => readAnnotations(key("haproxy"), {}, [tcp, udp], "Cluster")).toThrow(
      expect.objectContaining({
        reason: "PORT_PROTOCOL_UNSUPPORTED",
        fieldViolations: [expect.objectContaining({ field: "spec.ports[1].protocol" })],
      }),
    );
  });

  test.each([
    [{}, { pool: undefined, hidesClients: false, sendsProxyHeader: false }],
    [
      { "address-pool": "lan", "client-address": "hide", "proxy-protocol": "true" },
      { pool: "lan", hidesClients: true, sendsProxyHeader: true },
    ],
  ])("reads %j", (named, expected) => {
    const annotations = Object.fromEntries(Object.entries(named).map(([name, value]) => [key(name), value]));
    expect(readAnnotations(undefined, annotations, [tcp], "Cluster")).toMatchObject(expected);
  });
});
