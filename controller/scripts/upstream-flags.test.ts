import { describe, expect, test } from "vitest";
import { TABLE } from "../src/app/options.ts";
import { supportOf, unusedFlags } from "../src/options/upstream-flags.ts";
import { NODE_IPAM_SECTION, ourDefault, standings, upstream, upstreamDefault } from "./upstream-flags.ts";

const names = new Set(upstream.flags.map(({ name }) => name));

describe("flags of upstream's cloud-controller-manager", () => {
  test("are 85, and 4 of its node-ipam-controller", () => {
    expect(names.size).toBe(upstream.flags.length);
    expect(upstream.flags.filter(({ section }) => section === NODE_IPAM_SECTION)).toHaveLength(4);
    expect(names.size).toBe(85 + 4);
  });

  test("are each known to the parser", () => {
    expect([...names].filter((name) => supportOf(TABLE, name) === undefined)).toEqual([]);
  });

  const all = standings(upstream);

  test.each(all.filter(({ support }) => support.kind === "same"))("--$flag.name has the same default", ({ flag }) => {
    expect(ourDefault(flag.name)).toBe(upstreamDefault(flag));
  });

  test("with another default say why", () => {
    const others = all.filter(({ flag, support }) => {
      const ours = ourDefault(flag.name);
      return support.kind !== "mapped" && ours !== undefined && ours !== upstreamDefault(flag);
    });
    expect(others).toEqual([]);
  });

  test("that are warned of are upstream's", () => {
    expect([...unusedFlags.keys()].filter((name) => !names.has(name))).toEqual([]);
  });

  test("alone say how they differ", () => {
    const own = [...TABLE.byName].filter(([name, { flag }]) => !names.has(name) && flag.differs !== undefined);
    expect(own).toEqual([]);
  });
});
