import type { NodeAddress } from "../../../api/node.ts";
import { type IpAddress, isUnspecified, parseIp } from "./ip-address.ts";

/** The addresses in the order asked for, or why the annotation and the cloud do not go together. */
export type OrderedAddresses =
  | {
      readonly kind: "ordered";
      readonly addresses: readonly NodeAddress[];
      /** How many of the first were asked for. */
      readonly pinned: number;
    }
  | { readonly kind: "mismatch"; readonly message: string };

/**
 * The cloud's addresses as annotation alpha.kubernetes.io/provided-node-ip wants them: those equal to a listed IP first, in the
 * order of the annotation; then every address whose type was not matched, in the cloud's order. Other addresses of a matched
 * type are left out. component-helpers/node/util/ips.go and cloud-provider/node/helpers/address.go v0.36.3.
 */
export function orderByProvidedNodeIp(annotation: string | undefined, cloud: readonly NodeAddress[]): OrderedAddresses {
  if (annotation === undefined) return { kind: "ordered", addresses: cloud, pinned: 0 };
  const wanted = parseProvidedNodeIps(annotation);
  if (typeof wanted === "string") return { kind: "mismatch", message: wanted };
  const first: NodeAddress[] = [];
  for (const ip of wanted) {
    const equal = cloud.filter(({ address }) => parseIp(address)?.text === ip.text);
    if (equal.length === 0) return { kind: "mismatch", message: noSuchAddress(ip, cloud) };
    first.push(...equal);
  }
  const matchedTypes = new Set(first.map(({ type }) => type));
  const others = cloud.filter(({ type }) => !matchedTypes.has(type));
  return { kind: "ordered", addresses: [...first, ...others], pinned: first.length };
}

/** One IP, or two of different family separated by a comma, without spaces; a text says what is wrong. */
function parseProvidedNodeIps(annotation: string): readonly IpAddress[] | string {
  const quoted = JSON.stringify(annotation);
  const ips: IpAddress[] = [];
  for (const part of annotation.split(",")) {
    const ip = parseIp(part);
    if (ip === undefined) return `${quoted} holds ${JSON.stringify(part)}, which is not an IP address`;
    ips.push(ip);
  }
  const [one, two] = ips;
  if (ips.length > 2) return `${quoted} holds ${ips.length} addresses, where one or two are allowed`;
  if (two === undefined) return ips;
  if (ips.some(isUnspecified)) return `${quoted} pairs an unspecified address with another`;
  if (one?.family === two.family)
    return `${quoted} holds two ${two.family} addresses, where a pair is one of each family`;
  return ips;
}

function noSuchAddress({ text }: IpAddress, cloud: readonly NodeAddress[]): string {
  const known = cloud.map(({ type, address }) => `${type} ${address}`).join(", ");
  return `the cloud does not know ${text} as an address of this machine (it knows: ${known === "" ? "none" : known})`;
}
