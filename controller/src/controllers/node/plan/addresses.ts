import { PROVIDED_NODE_IP } from "../../../api/annotations.ts";
import type { Node, NodeAddress } from "../../../api/node.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { specialKind } from "../../../util/values/address-kind.ts";
import { addressText, type Cidr, parseAddress } from "../../../util/cidr.ts";
import { deepEqual } from "../../../util/equal.ts";

const HOSTNAME = "Hostname";
const INTERNAL_IP = "InternalIP";
const IP_TYPES: ReadonlySet<string> = new Set([INTERNAL_IP, "ExternalIP"]);

export type AddressPlan =
  /** `lost`: what the cloud no longer reports, and the Node keeps. */
  | { readonly kind: "keep"; readonly lost?: string }
  | { readonly kind: "write"; readonly addresses: readonly NodeAddress[]; readonly lost?: string }
  | { readonly kind: "mismatch"; readonly message: string };

/**
 * status.addresses of a Node that waits for initialization: exactly the cloud's addresses in their order. If the cloud reports no IP address,
 * the Node's are not changed; its own Hostname entries are kept if the cloud has none. cloud-provider/controllers/node/node_controller.go v0.36.3.
 */
export function planInitialAddresses(node: Node, cloud: readonly NodeAddress[]): AddressPlan {
  // The kubelet's own, or those from before the taint was added again.
  if (!cloud.some(isIp) && node.status.addresses.some(isIp)) return planAddresses(node, [], () => true);
  return planAddresses(node, cloud, (wanted) => deepEqual(wanted, node.status.addresses));
}

/**
 * status.addresses of an initialized Node. A different order alone is not a change, as upstream: with a cloud that lists in random order,
 * clients would switch addresses. But the order of annotation provided-node-ip counts. Upstream compares by type, and so sends an empty
 * patch for every dual-stack node each time.
 */
export function planNextAddresses(node: Node, cloud: readonly NodeAddress[]): AddressPlan {
  const { addresses } = node.status;
  const lost = lostAddresses(node, cloud);
  if (lost.length > 0 && !cloud.some(isIp)) return { kind: "keep", lost: lostMessage(lost, cloud) };
  const planned = planAddresses(node, withLost(node, cloud, lost), (wanted, pinned) => {
    const first = wanted.slice(0, pinned).map(textOf);
    const shownFirst = addresses.map(textOf).filter((text) => first.includes(text));
    return deepEqual(sorted(wanted), sorted(addresses)) && deepEqual(first, shownFirst);
  });
  return planned.kind === "mismatch" || lost.length === 0 ? planned : { ...planned, lost: lostMessage(lost, cloud) };
}

type IsShown = (wanted: readonly NodeAddress[], pinned: number) => boolean;

function planAddresses(node: Node, cloud: readonly NodeAddress[], isShown: IsShown): AddressPlan {
  const annotation = node.metadata.annotations[PROVIDED_NODE_IP];
  const ordered = orderByProvidedNodeIp(annotation, withHostname(node, cloud));
  if (ordered.kind === "mismatch") {
    return { kind: "mismatch", message: `annotation ${PROVIDED_NODE_IP}: ${ordered.message}` };
  }
  const { addresses, pinned } = ordered;
  return cloud.length === 0 || isShown(addresses, pinned) ? { kind: "keep" } : { kind: "write", addresses };
}

/** Neither the cloud nor the Node has an IP address: nothing can reach the Node. */
export function hasNoAddress({ status }: Node, cloud: readonly NodeAddress[]): boolean {
  return !cloud.some(isIp) && !status.addresses.some(isIp);
}

/** The Node cannot be initialized well before the cloud reports an IP address: the one that its kubelet was configured to use, or any. */
export function needsAddress(node: Node, cloud: readonly NodeAddress[]): boolean {
  return PROVIDED_NODE_IP in node.metadata.annotations ? !cloud.some(isIp) : hasNoAddress(node, cloud);
}

/** An IP address by which another Node can reach the Node. Loopback counts for clusters on one machine. */
function isIp({ type, address }: NodeAddress): boolean {
  const ip = parseAddress(address);
  if (!IP_TYPES.has(type) || ip === undefined) return false;
  const kind = specialKind(ip);
  return kind === undefined || kind === "loopback";
}

/**
 * Addresses of the Node that the cloud should report too. An instance does not lose its internal addresses of a family while its kubelet
 * runs, but clouds leave them out, for example without a guest agent. Another type for the same address is no loss. Only these are kept: a
 * kubelet can write any address to its Node.
 */
function lostAddresses({ status }: Node, cloud: readonly NodeAddress[]): readonly NodeAddress[] {
  if (cloud.length === 0) return [];
  const known = status.addresses.filter((one) => one.type === INTERNAL_IP && isIp(one));
  const reported = new Set(cloud.map(({ address }) => parseIp(address)?.text));
  const families = new Set(cloud.filter((one) => one.type === INTERNAL_IP && isIp(one)).map(familyOf));
  const missing = known.filter((one) => !families.has(familyOf(one)) && !reported.has(parseIp(one.address)?.text));
  return cloud.some(isIp) || known.length > 0 ? missing : status.addresses.filter(isIp);
}

/** The family that is first on the Node stays first. */
function withLost({ status }: Node, cloud: readonly NodeAddress[], lost: readonly NodeAddress[]) {
  const first = status.addresses.find((one) => one.type === INTERNAL_IP && isIp(one));
  return first !== undefined && lost.includes(first) ? [...lost, ...cloud] : [...cloud, ...lost];
}

function lostMessage(lost: readonly NodeAddress[], cloud: readonly NodeAddress[]): string {
  const [kept, reported] = [lost, cloud].map((addresses) => addresses.map(textOf).join(", "));
  return `the cloud no longer reports ${kept}, but ${reported}; the Node keeps its addresses. If the instance no longer has them, delete the Node and let it register again`;
}

function familyOf({ address }: NodeAddress): string | undefined {
  return parseIp(address)?.family;
}

/** Strategic merge patch for nodes/status. The list merges by type: without `$patch: replace`, two addresses of one type become one. */
export function addressesPatch(node: Node, addresses: readonly NodeAddress[]): JsonObject {
  const wanted: JsonObject[] = addresses.map(({ type, address }) => ({ type, address }));
  if (node.status.addresses.length > 0) wanted.push({ $patch: "replace" });
  return { metadata: { uid: node.metadata.uid }, status: { addresses: wanted } };
}

function withHostname(node: Node, cloud: readonly NodeAddress[]): readonly NodeAddress[] {
  if (cloud.some(({ type }) => type === HOSTNAME)) return cloud;
  return [...cloud, ...node.status.addresses.filter(({ type }) => type === HOSTNAME)];
}

function sorted(addresses: readonly NodeAddress[]): readonly string[] {
  return addresses.map(textOf).toSorted();
}

function textOf({ type, address }: NodeAddress): string {
  return `${type} ${address}`;
}

/** The addresses in the requested order, or the conflict between annotation and cloud. `pinned`: how many of the first were requested. */
export type OrderedAddresses =
  | {
      readonly kind: "ordered";
      readonly addresses: readonly NodeAddress[];
      readonly pinned: number;
    }
  | { readonly kind: "mismatch"; readonly message: string };

/**
 * Orders the cloud's addresses by annotation alpha.kubernetes.io/provided-node-ip: those equal to a listed IP first, in the
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

/** One IP, or two of different family separated by a comma, without spaces; a string is the error. */
function parseProvidedNodeIps(annotation: string): readonly IpAddress[] | string {
  const quoted = JSON.stringify(annotation);
  const ips: IpAddress[] = [];
  for (const part of annotation.split(",")) {
    const ip = parseIp(part);
    if (ip === undefined) return `${quoted} contains ${JSON.stringify(part)}, which is not an IP address`;
    ips.push(ip);
  }
  const [one, two] = ips;
  if (ips.length > 2) return `${quoted} contains ${ips.length} addresses; one or two are allowed`;
  if (two === undefined) return ips;
  if (ips.some(isUnspecified)) return `${quoted} pairs an unspecified address with another`;
  if (one?.family === two.family)
    return `${quoted} contains two ${two.family} addresses; two must be of different families`;
  return ips;
}

function noSuchAddress({ text }: IpAddress, cloud: readonly NodeAddress[]): string {
  const known = cloud.map(({ type, address }) => `${type} ${address}`).join(", ");
  return `${text} is not an address of this instance in the cloud (its addresses: ${known === "" ? "none" : known})`;
}

/** An IP address in canonical form: equal addresses have equal texts. */
export type IpAddress = Pick<Cidr, "family" | "text">;

/**
 * Reads an IP as Go's ParseIPSloppy does (apimachinery's netutils v0.36): leading zeros in IPv4 are decimal, an IPv6 zone
 * is rejected, an IPv4-mapped IPv6 address is the IPv4 address. undefined: not an IP.
 */
export function parseIp(text: string): IpAddress | undefined {
  const address = parseAddress(text);
  return address && { family: address.family, text: addressText(address) };
}

export function isUnspecified({ text }: IpAddress): boolean {
  return text === "0.0.0.0" || text === "::";
}
