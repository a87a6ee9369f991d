import type { IpFamily } from "../definition/common.ts";
import { type Cidr, parseCidr } from "./ip.ts";

/**
 * The pod CIDRs of a cluster, the controller's `--cluster-cidr`. In a cloud whose routes have no tags they determine the owner of a route:
 * a destination within one of them belongs to the cluster, every other route is foreign.
 */
export class PodCidrs {
  readonly #cidrs: readonly Cidr[];

  /** Takes CIDRs such as `10.244.0.0/16`. @throws TypeError for an invalid one */
  constructor(cidrs: readonly string[]) {
    this.#cidrs = cidrs.map((text) => {
      const cidr = parseCidr(text);
      if (cidr) return cidr;
      throw new TypeError(`${text} is not a CIDR`);
    });
  }

  /** True if this CIDR is within one of them. False also for an invalid one. */
  has(cidr: string): boolean {
    const inner = parseCidr(cidr);
    return (
      inner !== undefined &&
      this.#cidrs.some(
        ({ family, first, last }) => family === inner.family && first <= inner.first && inner.last <= last,
      )
    );
  }

  /** IP families of the CIDRs, `IPv4` first. */
  get families(): readonly IpFamily[] {
    const families = new Set(this.#cidrs.map(({ family }) => family));
    return (["IPv4", "IPv6"] as const).filter((name) => families.has(name === "IPv4" ? 4 : 6));
  }

  /** Human-readable: separated by commas. */
  toString(): string {
    return this.#cidrs.map(({ text }) => text).join(", ");
  }
}
