import { IpFamily as WireIpFamily, type NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol as WireProtocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { ipFamilies, nodeAddressTypes, protocols, valueOf, wordOf } from "@cloudwire/proto/words";
import type { IpFamily, Protocol } from "../model/info.ts";

/** An unset protocol of a Service is TCP; one that is not known here stays unspecified, which providers read as TCP. */
export function protocolToProto(protocol: string): WireProtocol {
  return protocol === "" ? WireProtocol.TCP : (valueOf(protocols, protocol) ?? WireProtocol.UNSPECIFIED);
}

/** undefined for a protocol newer than this program. */
export function protocolFromProto(protocol: WireProtocol): Protocol | undefined {
  return protocol === WireProtocol.UNSPECIFIED ? "TCP" : wordOf(protocols, protocol);
}

export function ipFamilyToProto(family: string): WireIpFamily {
  return valueOf(ipFamilies, family) ?? WireIpFamily.IPV4;
}

/** undefined for a family newer than this program. */
export function ipFamilyFromProto(family: WireIpFamily): IpFamily | undefined {
  return family === WireIpFamily.UNSPECIFIED ? "IPv4" : wordOf(ipFamilies, family);
}

/** undefined for a type that the contract does not have. */
export function addressTypeToProto(type: string): NodeAddressType | undefined {
  return valueOf(nodeAddressTypes, type);
}

/** undefined for a type that was not said or is newer than this program. */
export function addressTypeFromProto(type: NodeAddressType): string | undefined {
  return wordOf(nodeAddressTypes, type);
}
