import type { IpFamily } from "../definition/common.ts";
import { type Cidr, parseCidr } from "./ip.ts";

/**
 * The pod ranges of a cluster, the controller's `--cluster-cidr`. Where a cloud's routes bear no marks, they tell whose a route is: what lies
 * within one is the cluster's, all else is left alone.
 */
export class PodRanges {
  readonly #ranges: readonly Cidr[];

  /** Takes ranges such as `10.244.0.0/16`. @throws TypeError for a text that is none */
  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.map((text) => {
      const range = parseCidr(text);
      if (range) return range;
      throw new TypeError(`${text} is no address range`);
    });
  }

  /** True: all of this range is within one of them. False for a text that is no range, too. */
  has(cidr: string): boolean {
    const inner = parseCidr(cidr);
    return (
      inner !== undefined &&
      this.#ranges.some(
        ({ family, first, last }) => family === inner.family && first <= inner.first && inner.last <= last,
      )
    );
  }

  /** Families of which there are ranges, `IPv4` first. */
  get families(): readonly IpFamily[] {
    const families = new Set(this.#ranges.map(({ family }) => family));
    return (["IPv4", "IPv6"] as const).filter((name) => families.has(name === "IPv4" ? 4 : 6));
  }

  /** For people: separated by commas. */
  toString(): string {
    return this.#ranges.map(({ text }) => text).join(", ");
  }
}
