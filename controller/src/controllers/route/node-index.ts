import type { Node } from "../../api/node.ts";
import { ADDRESS_BITS, type Cidr, contains, parseCidr, prefixLength, rangeOf } from "../../util/cidr.ts";
import { InstanceMap } from "../../util/values/provider-id.ts";
import type { Claim } from "./plan/claims.ts";

interface Indexed {
  readonly providerID: string;
  readonly claims: readonly Claim[];
}

/** By prefix length, then by canonical CIDR. */
type ByLength = Map<number, Map<string, Set<Claim>>>;

/** Nodes by pod CIDR and by instance. A reconcile needs both, and must not read thousands of Nodes for them. */
export class NodeIndex {
  readonly #nodes = new Map<string, Indexed>();
  readonly #byInstance = new InstanceMap<string>();
  readonly #byLength: Readonly<Record<Cidr["family"], ByLength>> = { IPv4: new Map(), IPv6: new Map() };

  /** Replaces what is known of the Node. Returns its previous claims. */
  note({ metadata, spec }: Node): readonly Claim[] {
    const before = this.forget(metadata.name);
    const { name: node, creationTimestampMs: createdMs } = metadata;
    const claims = spec.podCIDRs.flatMap((text) => {
      const cidr = parseCidr(text);
      return cidr === undefined ? [] : [{ node, cidr, createdMs }];
    });
    this.#nodes.set(node, { providerID: spec.providerID, claims });
    this.#byInstance.add(spec.providerID, node);
    for (const claim of claims) this.#add(claim);
    return before;
  }

  /** Returns the claims that the Node had. */
  forget(name: string): readonly Claim[] {
    const known = this.#nodes.get(name);
    if (known === undefined) return [];
    this.#nodes.delete(name);
    this.#byInstance.delete(known.providerID, name);
    for (const claim of known.claims) this.#remove(claim);
    return known.claims;
  }

  /** Names of the Nodes on an instance. @param prefixes of the provider that the ID is from */
  onInstance(providerId: string, prefixes: readonly string[]): readonly string[] {
    return this.#byInstance.get(providerId, prefixes);
  }

  /** Claims to exactly this CIDR. */
  claimsTo(cidr: Cidr): Iterable<Claim> {
    return this.#byLength[cidr.family].get(prefixLength(cidr))?.get(cidr.text) ?? [];
  }

  /** Claims to CIDRs that contain this one or are inside of it, larger CIDRs first. */
  *overlapping(cidr: Cidr): Iterable<Claim> {
    const own = prefixLength(cidr);
    const byLength = this.#byLength[cidr.family];
    for (const [length, claims] of [...byLength].toSorted(([left], [right]) => left - right)) {
      if (length <= own) yield* this.#containing(cidr, length);
      else if (2 ** (length - own) < claims.size) yield* this.#inEach(cidr, length);
      else yield* inside(cidr, claims);
    }
  }

  #containing({ family, first }: Cidr, length: number): Iterable<Claim> {
    const outer = rangeOf(family, first, length);
    return outer === undefined ? [] : this.claimsTo(outer);
  }

  /** Looks up each part of the CIDR. */
  *#inEach({ family, first, last }: Cidr, length: number): Iterable<Claim> {
    const size = 1n << BigInt(ADDRESS_BITS[family] - length);
    for (let address = first; address <= last; address += size) {
      const part = rangeOf(family, address, length);
      if (part !== undefined) yield* this.claimsTo(part);
    }
  }

  #add(claim: Claim): void {
    const byLength = this.#byLength[claim.cidr.family];
    const length = prefixLength(claim.cidr);
    const ofLength = byLength.get(length) ?? new Map<string, Set<Claim>>();
    byLength.set(length, ofLength);
    const claims = ofLength.get(claim.cidr.text);
    if (claims === undefined) ofLength.set(claim.cidr.text, new Set([claim]));
    else claims.add(claim);
  }

  #remove(claim: Claim): void {
    const byLength = this.#byLength[claim.cidr.family];
    const length = prefixLength(claim.cidr);
    const ofLength = byLength.get(length);
    const claims = ofLength?.get(claim.cidr.text);
    claims?.delete(claim);
    if (claims?.size === 0) ofLength?.delete(claim.cidr.text);
    if (ofLength?.size === 0) byLength.delete(length);
  }
}

function* inside(cidr: Cidr, byCidr: ReadonlyMap<string, ReadonlySet<Claim>>): Iterable<Claim> {
  for (const claims of byCidr.values()) for (const claim of claims) if (contains(cidr, claim.cidr)) yield claim;
}
