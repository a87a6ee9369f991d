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

  test.each([
    ["UDP by HAProxy", key("haproxy"), {}, [tcp, udp], "PORT_PROTOCOL_UNSUPPORTED", "spec.ports[1].protocol"],
    ["a foreign class", "acme.example.com/lb", {}, [tcp], "CLASS_UNSUPPORTED", "spec.class"],
    [
      "another forwarder",
      undefined,
      { [key("forwarder")]: "ipvs" },
      [tcp],
      "ANNOTATION_INVALID",
      `spec.annotations["${key("forwarder")}"]`,
    ],
    [
      "yes for true",
      undefined,
      { [key("proxy-protocol")]: "yes" },
      [tcp],
      "ANNOTATION_INVALID",
      `spec.annotations["${key("proxy-protocol")}"]`,
    ],
  ] as const)("refuses %s", (_, loadBalancerClass, annotations, ports, reason, field) => {
    expect(() => readAnnotations(loadBalancerClass, annotations, ports, "Cluster")).toThrow(
      expect.objectContaining({ reason, fields: [expect.objectContaining({ field })] }),
    );
  });
});
