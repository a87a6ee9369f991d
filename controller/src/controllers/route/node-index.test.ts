import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { type Cidr, overlaps, parseCidr } from "../../util/cidr.ts";
import { NodeIndex } from "./node-index.ts";

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(text);
  return cidr;
}

const anyCidr = fc
  .tuple(fc.boolean(), fc.nat(40), fc.constantFrom(16, 20, 24, 28, 32))
  .map(([isSix, part, length]) => (isSix ? `fd00:0:0:${part}::/${length + 32}` : `10.120.${part}.0/${length}`));

describe("NodeIndex", () => {
  test("overlapping() and claimsTo() find what a search of all Nodes finds (case A-1)", () => {
    fc.assert(
      fc.property(fc.array(anyCidr, { maxLength: 60 }), anyCidr, (all, wanted) => {
        const index = new NodeIndex();
        for (const [position, podCIDR] of all.entries())
          index.note(node(`n${position}`, { spec: { podCIDRs: [podCIDR] } }));
        const cidr = cidrOf(wanted);
        const names = (claims: Iterable<{ readonly node: string }>) =>
          [...claims].map((claim) => claim.node).toSorted();
        const search = (isFound: (podCIDR: string) => boolean) =>
          all.flatMap((podCIDR, position) => (isFound(podCIDR) ? [`n${position}`] : [])).toSorted();
        expect(names(index.overlapping(cidr))).toEqual(search((podCIDR) => overlaps(cidrOf(podCIDR), cidr)));
        expect(names(index.claimsTo(cidr))).toEqual(search((podCIDR) => cidrOf(podCIDR).text === cidr.text));
      }),
    );
  });

  test("follows changes of a Node, and forgets it", () => {
    const index = new NodeIndex();
    const [first, second] = [cidrOf("10.120.1.0/24"), cidrOf("10.120.2.0/24")];
    index.note(node("a", { spec: { podCIDRs: [first.text, "rubbish"], providerID: "acme://1" } }));
    expect(index.onInstance("acme://zone/1", [])).toEqual(["a"]);
    const freed = index.note(node("a", { spec: { podCIDRs: [second.text], providerID: "acme://2" } }));
    expect(freed.map(({ cidr }) => cidr.text)).toEqual([first.text]);
    expect([index.onInstance("acme://1", []), [...index.overlapping(first)]]).toEqual([[], []]);
    expect(index.forget("a").map(({ cidr }) => cidr.text)).toEqual([second.text]);
    expect([index.forget("a"), [...index.overlapping(second)]]).toEqual([[], []]);
  });
});
