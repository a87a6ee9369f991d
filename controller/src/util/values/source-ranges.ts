import { LOAD_BALANCER_SOURCE_RANGES } from "../../api/annotations.ts";
import type { Service } from "../../api/service.ts";
import { canonicalCidr } from "../cidr.ts";

/**
 * CIDRs of the clients, canonical and without duplicates, from the spec or else from the older annotation; empty allows all clients.
 * cloud-provider/service/helpers/helper.go v0.36.3.
 */
export function sourceRanges({ metadata, spec }: Pick<Service, "metadata" | "spec">): readonly string[] {
  const { loadBalancerSourceRanges } = spec;
  const ranges =
    loadBalancerSourceRanges.length > 0
      ? loadBalancerSourceRanges
      : (metadata.annotations[LOAD_BALANCER_SOURCE_RANGES] ?? "").split(",");
  const written = ranges.map((range) => range.trim()).filter((range) => range !== "");
  return [...new Set(written.map(canonicalCidr))];
}
