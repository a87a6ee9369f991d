import { NODE_IPAM_CONTROLLER, isControllerEnabled } from "../../api/controller-names.ts";
import { type ClusterOptions, cidrListProblems, readCidrs } from "../../kube/options.ts";
import { boolFlag, choiceFlag, numberFlag, type Problem, stringFlag } from "../../options/flag.ts";
import { flagName, type OptionsOf } from "../../options/table.ts";
import { ADDRESS_BITS, type Cidr, prefixLength } from "../../util/cidr.ts";

/** cmd/kube-controller-manager/app/options/nodeipamcontroller.go and cloud-provider/options/kubecloudshared.go v1.36.3. */
export const nodeIpamFlags = {
  allocateNodeCidrs: boolFlag({
    path: "KubeCloudShared.AllocateNodeCIDRs",
    group: "controllers",
    defaultValue: false,
    help: "give nodes ranges for their pods; needs --controllers=*,nodeipam as well",
    differs: "node-ipam-controller has to be named in --controllers as well: two allocators hand out ranges twice",
  }),
  cidrAllocatorType: choiceFlag({
    path: "KubeCloudShared.CIDRAllocatorType",
    group: "controllers",
    choices: ["RangeAllocator", "CloudAllocator"],
    defaultValue: "RangeAllocator",
    help: "where nodes' pod ranges come from: blocks of --cluster-cidr, or what the cloud has allocated for the machine",
    differs: "CloudAllocator writes what the cloud has allocated, where upstream's process ends",
  }),
  nodeCidrMaskSize: maskSize(
    128,
    "prefix length of a node's pod range with one --cluster-cidr; 0: 24 for IPv4, 64 for IPv6",
  ),
  nodeCidrMaskSizeIpv4: maskSize(32, "prefix length of a node's IPv4 pod range; 0: 24"),
  nodeCidrMaskSizeIpv6: maskSize(
    128,
    "prefix length of a node's IPv6 pod range, at most 16 more than that of --cluster-cidr; 0: 64",
  ),
  serviceClusterIpRange: stringFlag({
    group: "controllers",
    valueName: "cidr[,cidr]",
    help: "range of Services, or one of each IP family; where it overlaps --cluster-cidr, no node gets it",
  }),
} as const;

function maskSize(max: number, help: string): ReturnType<typeof numberFlag> {
  return numberFlag({ group: "controllers", valueName: "bits", defaultValue: 0, min: 0, max, whole: true, help });
}

/** Its own flags, and the range of all pods. */
export interface NodeIpamOptions extends OptionsOf<typeof nodeIpamFlags>, Pick<ClusterOptions, "clusterCidr"> {}

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
export function isNodeIpamEnabled({ controllers }: { readonly controllers: readonly string[] }): boolean {
  return isControllerEnabled(NODE_IPAM_CONTROLLER, controllers);
}

/**
 * Why no ranges are allocated although --allocate-node-cidrs is given; undefined: they are, or nobody asks for it. Many set the flag for
 * the allocator of kube-controller-manager: two of them would hand out ranges twice.
 */
export function whyNotAllocated(
  options: Pick<NodeIpamOptions, "allocateNodeCidrs"> & Parameters<typeof isNodeIpamEnabled>[0],
): string | undefined {
  if (!options.allocateNodeCidrs || isNodeIpamEnabled(options)) return undefined;
  return "--allocate-node-cidrs is true, but the controller is off unless --controllers names it: --controllers=*,nodeipam";
}

/** The cluster's ranges with the sizes that the flags give them. */
export function nodeRanges(options: NodeIpamOptions): readonly NodeRange[] {
  const { nodeCidrMaskSize: both } = options;
  return readCidrs(options.clusterCidr).map((cidr) => ({
    cidr,
    nodeMaskSize: both || options[SIZE_OF[cidr.family]] || DEFAULT_MASK_SIZE[cidr.family],
  }));
}

/** The ranges of Services. */
export function serviceRanges({ serviceClusterIpRange }: NodeIpamOptions): readonly Cidr[] {
  return readCidrs(serviceClusterIpRange);
}

/** What is wrong with the settings of node-ipam, as far as they are used. */
export function nodeIpamProblems(
  options: NodeIpamOptions & Parameters<typeof isNodeIpamEnabled>[0],
): readonly Problem[] {
  const services = cidrListProblems("--service-cluster-ip-range", options.serviceClusterIpRange);
  const isUsed = options.allocateNodeCidrs && isNodeIpamEnabled(options);
  if (!isUsed || options.cidrAllocatorType === "CloudAllocator") return services;
  const forbidden = forbiddenSizes(options);
  const sizes = forbidden.length > 0 ? forbidden : impossibleSizes(options);
  return [...services, ...missingRange(options), ...sizes];
}

function missingRange({ clusterCidr }: NodeIpamOptions): readonly Problem[] {
  if (clusterCidr !== "") return [];
  const what =
    "no range is given, and --allocate-node-cidrs takes nodes' pod ranges from it; write it like 10.120.0.0/16";
  return [{ where: "--cluster-cidr", what }];
}

/** setNodeCIDRMaskSizes in cmd/cloud-controller-manager/nodeipamcontroller.go v1.36.3. */
function forbiddenSizes(options: NodeIpamOptions): readonly Problem[] {
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

function impossibleSizes(options: NodeIpamOptions): readonly Problem[] {
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
