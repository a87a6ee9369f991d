import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cidr, overlaps, parseCidr } from "../../../util/cidr.ts";
import { type Claim, type ClaimRules, refuse } from "./claims.ts";

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(text);
  return cidr;
}

function claim(node: string, cidr: string, createdMs = 0): Claim {
  return { node, cidr: cidrOf(cidr), createdMs };
}

interface World {
  readonly claims: readonly Claim[];
  /** Names of Nodes. */
  readonly routed?: readonly string[];
}

function rules({ claims, routed = [] }: World): ClaimRules {
  return {
    clusterCidrs: [cidrOf("10.120.0.0/16")],
    blocks: [],
    hasOthers: claims.length > 1,
    overlapping: (cidr) => claims.filter((other) => overlaps(other.cidr, cidr)),
    hasRoute: ({ node }) => routed.includes(node),
  };
}

/** Names of the Nodes that may have a route. */
function accepted(world: World): readonly string[] {
  return world.claims.filter((one) => refuse(one, rules(world)) === undefined).map(({ node }) => node);
}

describe("refuse()", () => {
  test.each<{ when: string; world: World; wanted: readonly string[] }>([
    {
      when: "they overlap nowhere",
      world: { claims: [claim("a", "10.120.1.0/24"), claim("b", "10.120.2.0/24")] },
      wanted: ["a", "b"],
    },
    {
      when: "the younger Node claims the same",
      world: { claims: [claim("a", "10.120.1.0/24", 2), claim("b", "10.120.1.0/24", 1)] },
      wanted: ["b"],
    },
    {
      when: "both are of one age",
      world: { claims: [claim("b", "10.120.1.0/24"), claim("a", "10.120.1.0/24")] },
      wanted: ["a"],
    },
    {
      when: "the younger Node has the route",
      world: { claims: [claim("a", "10.120.1.0/24", 1), claim("b", "10.120.1.0/24", 2)], routed: ["b"] },
      wanted: ["b"],
    },
    {
      when: "the older Node claims a part of a routed CIDR",
      world: { claims: [claim("a", "10.120.1.128/25", 1), claim("b", "10.120.1.0/24", 2)], routed: ["b"] },
      wanted: ["b"],
    },
    {
      when: "the oldest Node claims all, and one CIDR in it has a route: the refused claim blocks no other",
      world: {
        claims: [claim("all", "10.120.0.0/17", 0), claim("a", "10.120.1.0/24", 1), claim("b", "10.120.2.0/24", 2)],
        routed: ["a"],
      },
      wanted: ["a", "b"],
    },
    {
      when: "the oldest Node claims a CIDR outside, which contains the others",
      world: { claims: [claim("all", "0.0.0.0/0", 0), claim("a", "10.120.1.0/24", 1)] },
      wanted: ["a"],
    },
    {
      when: "the oldest Node claims a whole cluster CIDR",
      world: { claims: [claim("all", "10.120.0.0/16", 0), claim("a", "10.120.1.0/24", 1)] },
      wanted: ["a"],
    },
    {
      when: "the only Node claims a whole cluster CIDR",
      world: { claims: [claim("a", "10.120.0.0/16")] },
      wanted: ["a"],
    },
  ])("permits $wanted when $when (case A-1)", ({ world, wanted }) => {
    expect(accepted(world)).toEqual(wanted);
  });

  test("is never undefined for two claims that overlap, and for each refused claim another is the reason (case A-1)", () => {
    const anyClaim = fc.record({
      node: fc.uuid(),
      cidr: fc
        .tuple(fc.nat(3), fc.constantFrom(17, 20, 24, 25, 32))
        .map(([third, length]) => cidrOf(`10.120.${third}.0/${length}`)),
      createdMs: fc.nat(3),
    });
    const claims = fc.uniqueArray(anyClaim, { selector: ({ node }) => node, maxLength: 12 });
    fc.assert(
      fc.property(claims, fc.integer({ min: 0, max: 4095 }), (all, bits) => {
        const routed = all.filter((_, index) => bits & (1 << index)).map(({ node }) => node);
        const world = { claims: all, routed };
        const names = accepted(world);
        const winners = all.filter(({ node }) => names.includes(node));
        const clashes = winners.filter((one) =>
          winners.some((other) => one !== other && overlaps(one.cidr, other.cidr)),
        );
        expect(clashes).toEqual([]);
        const losers = all.filter(({ node }) => !names.includes(node));
        expect(losers.filter((one) => !winners.some((other) => overlaps(one.cidr, other.cidr)))).toEqual([]);
      }),
    );
  });

  test("decides about hundreds of nested and equal claims at once (case A-1)", () => {
    const nested = Array.from({ length: 16 }, (_, index) =>
      claim(`n${index}`, `10.120.0.0/${17 + (index % 16)}`, 16 - index),
    );
    const equal = Array.from({ length: 400 }, (_, index) => claim(`e${index}`, "10.120.0.0/32", 1000 - index));
    const world = { claims: [...nested, ...equal] };
    expect(refuse(claim("young", "10.120.0.0/24", 5000), rules(world))?.rejection).toBe("overlap");
  });
});
