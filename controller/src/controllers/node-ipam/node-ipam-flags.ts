import { boolFlag, choiceFlag, numberFlag, stringFlag } from "../../options/flag.ts";

/** cmd/kube-controller-manager/app/options/nodeipamcontroller.go and cloud-provider/options/kubecloudshared.go v1.36.3. */
export const nodeIpamFlags = {
  allocateNodeCidrs: boolFlag({
    group: "controllers",
    defaultValue: false,
    help: "give nodes ranges for their pods; needs --controllers=*,nodeipam as well",
    differs: "node-ipam-controller has to be named in --controllers as well: two allocators hand out ranges twice",
  }),
  cidrAllocatorType: choiceFlag({
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
