import { NODE_IPAM_CONTROLLER, isControllerEnabled } from "../../api/controller-names.ts";
import { nodeCidrs, SIZE_OF } from "../../kube/node-cidrs.ts";
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
    help: "allocate pod CIDRs to nodes; needs --controllers=*,nodeipam as well",
    differs: "node-ipam-controller has to be named in --controllers as well: two allocators would allocate CIDRs twice",
  }),
  cidrAllocatorType: choiceFlag({
    path: "KubeCloudShared.CIDRAllocatorType",
    group: "controllers",
    choices: ["RangeAllocator", "CloudAllocator"],
    defaultValue: "RangeAllocator",
    help: "source of nodes' pod CIDRs: blocks of --cluster-cidr, or the CIDRs that the cloud has allocated for the instance",
    differs: "CloudAllocator uses the CIDRs of the cloud; upstream exits",
  }),
  nodeCidrMaskSize: maskSize(
    128,
    "prefix length of a node's pod CIDR with one --cluster-cidr; 0: 24 for IPv4, 64 for IPv6",
  ),
  nodeCidrMaskSizeIpv4: maskSize(32, "prefix length of a node's IPv4 pod CIDR; 0: 24"),
  nodeCidrMaskSizeIpv6: maskSize(
    128,
    "prefix length of a node's IPv6 pod CIDR, at most 16 more than that of --cluster-cidr; 0: 64",
  ),
  serviceClusterIpRange: stringFlag({
    group: "controllers",
    valueName: "cidr[,cidr]",
    help: "CIDR of Services, or one of each IP family; nodes get no block that overlaps it",
  }),
} as const;

function maskSize(max: number, help: string): ReturnType<typeof numberFlag> {
  return numberFlag({ group: "controllers", valueName: "bits", defaultValue: 0, min: 0, max, whole: true, help });
}

export interface NodeIpamOptions extends OptionsOf<typeof nodeIpamFlags>, Pick<ClusterOptions, "clusterCidr"> {}

/** clusterSubnetMaxDiff in pkg/controller/nodeipam/ipam/cidrset/cidr_set.go v1.36.3. */
const MAX_IPV6_DIFFERENCE = 16;

/** Without --allocate-node-cidrs the enabled controller does nothing. */
export function isNodeIpamEnabled({ controllers }: { readonly controllers: readonly string[] }): boolean {
  return isControllerEnabled(NODE_IPAM_CONTROLLER, controllers);
}

/**
 * Why no CIDRs are allocated although --allocate-node-cidrs is true; undefined: no such conflict. Many clusters set the flag for
 * kube-controller-manager, and two allocators would allocate CIDRs twice.
 */
export function whyNotAllocated(
  options: Pick<NodeIpamOptions, "allocateNodeCidrs"> & Parameters<typeof isNodeIpamEnabled>[0],
): string | undefined {
  if (!options.allocateNodeCidrs || isNodeIpamEnabled(options)) return undefined;
  return "--allocate-node-cidrs is true, but the controller is off unless --controllers names it: --controllers=*,nodeipam";
}

export function serviceCidrs({ serviceClusterIpRange }: NodeIpamOptions): readonly Cidr[] {
  return readCidrs(serviceClusterIpRange);
}

export function nodeIpamProblems(
  options: NodeIpamOptions & Parameters<typeof isNodeIpamEnabled>[0],
): readonly Problem[] {
  const services = cidrListProblems("--service-cluster-ip-range", options.serviceClusterIpRange);
  const isUsed = options.allocateNodeCidrs && isNodeIpamEnabled(options);
  if (!isUsed || options.cidrAllocatorType === "CloudAllocator") return services;
  const forbidden = forbiddenSizes(options);
  const sizes = forbidden.length > 0 ? forbidden : impossibleSizes(options);
  return [...services, ...missingCidr(options), ...sizes];
}

function missingCidr({ clusterCidr }: NodeIpamOptions): readonly Problem[] {
  if (clusterCidr !== "") return [];
  const what = "it is empty, but --allocate-node-cidrs needs it for pod CIDRs; example: 10.120.0.0/16";
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
    return [{ where: "--node-cidr-mask-size", what: `cannot be used with two cluster CIDRs; ${ofFamilies}` }];
  }
  if (both !== 0) {
    if (ipv4 === 0 && ipv6 === 0) return [];
    return [{ where: "--node-cidr-mask-size", what: "conflicts with a size for one IP family; set only one of them" }];
  }
  const other = first.family === "IPv4" ? SIZE_OF.IPv6 : SIZE_OF.IPv4;
  if (options[other] === 0) return [];
  return [{ where: `--${flagName(other)}`, what: `is set, but the only CIDR in --cluster-cidr is ${first.family}` }];
}

function impossibleSizes(options: NodeIpamOptions): readonly Problem[] {
  return nodeCidrs(options).flatMap(({ cidr, nodeMaskSize }) => {
    const what = impossible(cidr, nodeMaskSize);
    const key = options.nodeCidrMaskSize === 0 ? SIZE_OF[cidr.family] : "nodeCidrMaskSize";
    return what === undefined ? [] : [{ where: `--${flagName(key)}`, what: `/${nodeMaskSize} ${what}` }];
  });
}

function impossible(cidr: Cidr, nodeMaskSize: number): string | undefined {
  const { family, text } = cidr;
  const length = prefixLength(cidr);
  if (nodeMaskSize > ADDRESS_BITS[family])
    return `is longer than an ${family} address; at most ${ADDRESS_BITS[family]}`;
  if (nodeMaskSize < length) return `is larger than the cluster CIDR ${text}; at least ${length}`;
  if (family === "IPv6" && nodeMaskSize - length > MAX_IPV6_DIFFERENCE) {
    return `divides ${text} into more than 65536 blocks; at most ${length + MAX_IPV6_DIFFERENCE}`;
  }
  return undefined;
}
