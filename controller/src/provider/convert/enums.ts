import { NodeAddressType, IpFamily as WireIpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol as WireProtocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { IpFamily, Protocol } from "../provider-info.ts";

const PROTOCOLS: ReadonlyMap<string, WireProtocol> = new Map([
  ["TCP", WireProtocol.TCP],
  ["UDP", WireProtocol.UDP],
  ["SCTP", WireProtocol.SCTP],
]);

/** An unset protocol of a Service is TCP; one that is not known here stays unspecified, which providers read as TCP. */
export function protocolToProto(protocol: string): WireProtocol {
  return protocol === "" ? WireProtocol.TCP : (PROTOCOLS.get(protocol) ?? WireProtocol.UNSPECIFIED);
}

/** undefined for a protocol newer than this program. */
export function protocolFromProto(protocol: WireProtocol): Protocol | undefined {
  switch (protocol) {
    case WireProtocol.UNSPECIFIED:
    case WireProtocol.TCP:
      return "TCP";
    case WireProtocol.UDP:
      return "UDP";
    case WireProtocol.SCTP:
      return "SCTP";
    default:
      return undefined;
  }
}

export function ipFamilyToProto(family: string): WireIpFamily {
  return family === "IPv6" ? WireIpFamily.IPV6 : WireIpFamily.IPV4;
}

/** undefined for a family newer than this program. */
export function ipFamilyFromProto(family: WireIpFamily): IpFamily | undefined {
  switch (family) {
    case WireIpFamily.UNSPECIFIED:
    case WireIpFamily.IPV4:
      return "IPv4";
    case WireIpFamily.IPV6:
      return "IPv6";
    default:
      return undefined;
  }
}

const ADDRESS_TYPES = [
  ["InternalIP", NodeAddressType.INTERNAL_IP],
  ["ExternalIP", NodeAddressType.EXTERNAL_IP],
  ["Hostname", NodeAddressType.HOSTNAME],
  ["InternalDNS", NodeAddressType.INTERNAL_DNS],
  ["ExternalDNS", NodeAddressType.EXTERNAL_DNS],
] as const;

const ADDRESS_TYPE_TO_PROTO: ReadonlyMap<string, NodeAddressType> = new Map(ADDRESS_TYPES);
const ADDRESS_TYPE_FROM_PROTO: ReadonlyMap<number, string> = new Map(
  ADDRESS_TYPES.map(([kubernetes, wire]) => [wire, kubernetes]),
);

/** undefined for a type that the contract does not have. */
export function addressTypeToProto(type: string): NodeAddressType | undefined {
  return ADDRESS_TYPE_TO_PROTO.get(type);
}

/** undefined for a type that was not said or is newer than this program. */
export function addressTypeFromProto(type: NodeAddressType): string | undefined {
  return ADDRESS_TYPE_FROM_PROTO.get(type);
}
