import { NODE_IPAM_CONTROLLER, isControllerEnabled } from "../../api/controller-names.ts";
import { ADDRESS_BITS, type Cidr, prefixLength } from "../../util/cidr.ts";
import { cidrListProblems, readCidrs } from "./cidr-list.ts";
import { flagName, type Options } from "../../app/options.ts";
import type { Problem } from "../../options/flag.ts";

/** A cluster range, and the prefix length of what each Node gets of it. */
export interface NodeRange {
  readonly cidr: Cidr;
  readonly nodeMaskSize: number;
}

/** cmd/cloud-controller-manager/nodeipamcontroller.go v1.36.3. */
const DEFAULT_MASK_SIZE = { IPv4: 24, IPv6: 64 } as const;

const SIZE_OF = { IPv4: "nodeCidrMaskSizeIpv4", IPv6: "nodeCidrMaskSizeIpv6" } as const;

/** clusterSubnetMaxDiff in pkg/controller/nodeipam/ipam/cidrset/cidr_set.go v1.36.3. */
const MAX_IPV6_DIFFERENCE = 16;

/** node-ipam is turned on. It does nothing without --allocate-node-cidrs. */
export function isNodeIpamEnabled({ controllers }: Pick<Options, "controllers">): boolean {
  return isControllerEnabled(NODE_IPAM_CONTROLLER, controllers);
}

/** The cluster's ranges with the sizes that the flags give them. */
export function nodeRanges(options: Options): readonly NodeRange[] {
  const { nodeCidrMaskSize: both } = options;
  return readCidrs(options.clusterCidr).map((cidr) => ({
    cidr,
    nodeMaskSize: both || options[SIZE_OF[cidr.family]] || DEFAULT_MASK_SIZE[cidr.family],
  }));
}

/** The ranges of Services. */
export function serviceRanges({ serviceClusterIpRange }: Options): readonly Cidr[] {
  return readCidrs(serviceClusterIpRange);
}

/** What is wrong with the settings of node-ipam, as far as they are used. */
export function nodeIpamProblems(options: Options): readonly Problem[] {
  const services = cidrListProblems("--service-cluster-ip-range", options.serviceClusterIpRange);
  const isUsed = options.allocateNodeCidrs && isNodeIpamEnabled(options);
  if (!isUsed || options.cidrAllocatorType === "CloudAllocator") return services;
  const forbidden = forbiddenSizes(options);
  const sizes = forbidden.length > 0 ? forbidden : impossibleSizes(options);
  return [...services, ...missingRange(options), ...sizes];
}

function missingRange({ clusterCidr }: Options): readonly Problem[] {
  if (clusterCidr !== "") return [];
  const what =
    "no range is given, and --allocate-node-cidrs takes nodes' pod ranges from it; write it like 10.120.0.0/16";
  return [{ where: "--cluster-cidr", what }];
}

/** setNodeCIDRMaskSizes in cmd/cloud-controller-manager/nodeipamcontroller.go v1.36.3. */
function forbiddenSizes(options: Options): readonly Problem[] {
  const [first, second] = readCidrs(options.clusterCidr);
  const { nodeCidrMaskSize: both, nodeCidrMaskSizeIpv4: ipv4, nodeCidrMaskSizeIpv6: ipv6 } = options;
  const ofFamilies = "use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6";
  if (first === undefined) return [];
  if (second !== undefined) {
    if (both === 0) return [];
    return [{ where: "--node-cidr-mask-size", what: `fits no --cluster-cidr with two ranges; ${ofFamilies}` }];
  }
  if (both !== 0) {
    if (ipv4 === 0 && ipv6 === 0) return [];
    return [{ where: "--node-cidr-mask-size", what: "is given beside a size for one IP family; give one of the two" }];
  }
  const other = first.family === "IPv4" ? SIZE_OF.IPv6 : SIZE_OF.IPv4;
  if (options[other] === 0) return [];
  return [{ where: `--${flagName(other)}`, what: `is given, but the only range of --cluster-cidr is ${first.family}` }];
}

function impossibleSizes(options: Options): readonly Problem[] {
  return nodeRanges(options).flatMap(({ cidr, nodeMaskSize }) => {
    const what = impossible(cidr, nodeMaskSize);
    const key = options.nodeCidrMaskSize === 0 ? SIZE_OF[cidr.family] : "nodeCidrMaskSize";
    return what === undefined ? [] : [{ where: `--${flagName(key)}`, what: `/${nodeMaskSize} ${what}` }];
  });
}

function impossible(cidr: Cidr, nodeMaskSize: number): string | undefined {
  const { family, text } = cidr;
  const length = prefixLength(cidr);
  if (nodeMaskSize > ADDRESS_BITS[family])
    return `is more than an ${family} address has; at most ${ADDRESS_BITS[family]}`;
  if (nodeMaskSize < length) return `is larger than the range ${text} that it is to be a part of; at least ${length}`;
  if (family === "IPv6" && nodeMaskSize - length > MAX_IPV6_DIFFERENCE) {
    return `divides ${text} into more than 65536 ranges; at most ${length + MAX_IPV6_DIFFERENCE}`;
  }
  return undefined;
}
