import { isIP } from "node:net";
import { NodeAddress, NodeAddressType } from "../gen/cloudprovider/v1/common.ts";
import { quote } from "./formats.ts";

/** Control characters could forge lines of a log or control a terminal. Tabs and line breaks are text. */
export const hasControlCharacters = (text: string): boolean => /\p{Cc}/u.test(text.replaceAll(/[\t\n\r]/g, ""));

const ipTypes: ReadonlySet<NodeAddressType> = new Set([NodeAddressType.INTERNAL_IP, NodeAddressType.EXTERNAL_IP]);
const nameTypes: ReadonlySet<NodeAddressType> = new Set([
  NodeAddressType.HOSTNAME,
  NodeAddressType.INTERNAL_DNS,
  NodeAddressType.EXTERNAL_DNS,
]);

/** A host name as clouds report it, capitals and underscores included, or an IP address. */
const hostName = /^[\w.:-]+$/;

/** The problem with the address of a node by its type; undefined if it is valid. An unknown type has no rule. */
export const addressProblem = (message: unknown): string | undefined => {
  const { type, address } = NodeAddress.fromPartial(typeof message === "object" && message !== null ? message : {});
  if (ipTypes.has(type) && (isIP(address) === 0 || address.includes("%")))
    return `${quote(address)} is not an IP address`;
  return nameTypes.has(type) && address !== "" && !hostName.test(address)
    ? `${quote(address)} is not a host name`
    : undefined;
};
