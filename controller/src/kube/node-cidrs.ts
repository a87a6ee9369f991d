import { isControllerEnabled, NODE_IPAM_CONTROLLER } from "../api/controller-names.ts";
import type { Cidr } from "../util/cidr.ts";
import { type ClusterOptions, readCidrs } from "./options.ts";

export interface BlockOptions extends Pick<ClusterOptions, "clusterCidr"> {
  readonly nodeCidrMaskSize: number;
  readonly nodeCidrMaskSizeIpv4: number;
  readonly nodeCidrMaskSizeIpv6: number;
}

export interface AllocatorOptions extends BlockOptions {
  readonly controllers: readonly string[];
  readonly allocateNodeCidrs: boolean;
  readonly cidrAllocatorType: string;
}

/** A cluster CIDR and the prefix length of the blocks for Nodes. */
export interface NodeCidr {
  readonly cidr: Cidr;
  readonly nodeMaskSize: number;
}

/** cmd/cloud-controller-manager/nodeipamcontroller.go v1.36.3. */
const DEFAULT_MASK_SIZE = { IPv4: 24, IPv6: 64 } as const;

/** Option of the prefix length for one IP family. */
export const SIZE_OF = { IPv4: "nodeCidrMaskSizeIpv4", IPv6: "nodeCidrMaskSizeIpv6" } as const;

export function nodeCidrs(options: BlockOptions): readonly NodeCidr[] {
  const { nodeCidrMaskSize: both } = options;
  return readCidrs(options.clusterCidr).map((cidr) => ({
    cidr,
    nodeMaskSize: both || options[SIZE_OF[cidr.family]] || DEFAULT_MASK_SIZE[cidr.family],
  }));
}

/** What node-ipam-controller divides into blocks. Empty: it does not run here, or the cloud allocates. */
export function allocatedCidrs(options: AllocatorOptions): readonly NodeCidr[] {
  const { allocateNodeCidrs, cidrAllocatorType, controllers } = options;
  const isOn = allocateNodeCidrs && isControllerEnabled(NODE_IPAM_CONTROLLER, controllers);
  return isOn && cidrAllocatorType === "RangeAllocator" ? nodeCidrs(options) : [];
}
