import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cidr, contains, parseCidr } from "../../util/cidr.ts";
import { CidrSet } from "./cidr-set.ts";

function range(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is no range`);
  return parsed;
}

function setOf(text: string, blockLength: number): CidrSet {
  return new CidrSet(range(text), blockLength);
}

function take(set: CidrSet, count: number): readonly (string | undefined)[] {
  return Array.from({ length: count }, () => set.allocate()?.cidr.text);
}

describe("CidrSet.allocate()", () => {
  test.each([
    { cidr: "10.0.0.0/22", length: 24, blocks: ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"] },
    { cidr: "10.0.3.0/24", length: 24, blocks: ["10.0.3.0/24"] },
    { cidr: "192.0.2.4/31", length: 32, blocks: ["192.0.2.4/32", "192.0.2.5/32"] },
    {
      cidr: "fd00:1::/62",
      length: 64,
      blocks: ["fd00:1::/64", "fd00:1:0:1::/64", "fd00:1:0:2::/64", "fd00:1:0:3::/64"],
    },
    { cidr: "fd00::ff00/121", length: 122, blocks: ["fd00::ff00/122", "fd00::ff40/122"] },
    {
      cidr: "fd00:0:0:8000::/63",
      length: 65,
      blocks: ["fd00:0:0:8000::/65", "fd00:0:0:8000:8000::/65", "fd00:0:0:8001::/65", "fd00:0:0:8001:8000::/65"],
    },
  ])("divides $cidr into blocks of /$length, then says that it is full", ({ cidr, length, blocks }) => {
    const set = setOf(cidr, length);
    expect(set.capacity).toBe(blocks.length);
    expect(take(set, blocks.length + 1)).toEqual([...blocks, undefined]);
    expect([set.used, set.isFull]).toEqual([blocks.length, true]);
  });

  test("goes round before it hands a block out again", () => {
    const set = setOf("10.0.0.0/22", 24);
    take(set, 2);
    set.release(range("10.0.0.0/24"));
    expect(take(set, 3)).toEqual(["10.0.2.0/24", "10.0.3.0/24", "10.0.0.0/24"]);
  });

  test("reports how many blocks it passed over", () => {
    const set = setOf("10.0.0.0/22", 24);
    set.occupy(range("10.0.0.0/23"));
    expect(set.allocate()?.passedOver).toBe(2);
  });

  test("counts them round the end", () => {
    const set = setOf("10.0.0.0/22", 24);
    take(set, 3);
    set.occupy(range("10.0.3.0/24"));
    set.release(range("10.0.1.0/24"));
    expect(set.allocate()).toEqual({ cidr: range("10.0.1.0/24"), passedOver: 2 });
  });

  test("gives every one of 65,536 blocks once", () => {
    const set = setOf("fd00:120::/48", 64);
    const blocks = new Set(take(set, 65_536));
    expect([blocks.size, set.isFull, blocks.has("fd00:120:0:ffff::/64"), set.allocate()]).toEqual([
      65_536,
      true,
      true,
      undefined,
    ]);
  });

  test("needs no memory for blocks that no one holds", () => {
    const set = setOf("0.0.0.0/0", 32);
    set.occupy(range("0.0.0.0/1"));
    expect([set.used, set.allocate()]).toEqual([2 ** 31, { cidr: range("128.0.0.0/32"), passedOver: 2 ** 31 }]);
  });
});

describe("CidrSet.overlaps()", () => {
  test.each([
    { other: "9.255.255.0/24", wanted: false },
    { other: "10.0.0.0/32", wanted: true },
    { other: "10.0.3.255/32", wanted: true },
    { other: "10.0.4.0/24", wanted: false },
    { other: "0.0.0.0/0", wanted: true },
    { other: "::/0", wanted: false },
  ])("answers $wanted for $other", ({ other, wanted }) => {
    expect(setOf("10.0.0.0/22", 24).overlaps(range(other))).toBe(wanted);
  });
});

describe("CidrSet.occupy()", () => {
  test.each([
    { sentence: "one block", taken: "10.0.1.0/24", free: ["10.0.0.0/24", "10.0.2.0/24", "10.0.3.0/24"] },
    { sentence: "a part of one", taken: "10.0.1.128/26", free: ["10.0.0.0/24", "10.0.2.0/24", "10.0.3.0/24"] },
    { sentence: "the first address", taken: "10.0.0.0/32", free: ["10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"] },
    { sentence: "the last address", taken: "10.0.3.255/32", free: ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"] },
    {
      sentence: "what lies before",
      taken: "9.255.255.0/24",
      free: ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"],
    },
    { sentence: "several", taken: "10.0.2.0/23", free: ["10.0.0.0/24", "10.0.1.0/24"] },
    { sentence: "more than the whole", taken: "10.0.0.0/8", free: [] },
    {
      sentence: "none of it",
      taken: "10.0.4.0/24",
      free: ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"],
    },
    { sentence: "another family", taken: "::/0", free: ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"] },
  ])("keeps what is in use out: $sentence", ({ taken, free }) => {
    const set = setOf("10.0.0.0/22", 24);
    expect(set.occupy(range(taken))).toBe(4 - free.length);
    expect(take(set, 5).filter((block) => block !== undefined)).toEqual(free);
  });

  test("counts uses: a block in use twice is free after two releases", () => {
    const set = setOf("10.0.0.0/24", 24);
    const [one, two] = [range("10.0.0.0/26"), range("10.0.0.64/26")];
    expect([set.occupy(one), set.occupy(two), set.release(one), set.isFull]).toEqual([1, 0, 0, true]);
    expect([set.release(two), set.isFull, set.release(two), set.used]).toEqual([1, false, 0, 0]);
  });
});

describe("CidrSet with ranges kept as wholes", () => {
  const wide = (): CidrSet => {
    const set = new CidrSet(range("10.0.0.0/20"), 24, 2);
    set.occupy(range("10.0.4.0/22"));
    return set;
  };

  test.each([
    { asked: "10.0.3.0/24", wanted: false },
    { asked: "10.0.4.0/24", wanted: true },
    { asked: "10.0.7.0/24", wanted: true },
    { asked: "10.0.8.0/24", wanted: false },
    { asked: "10.0.0.0/22", wanted: false },
    { asked: "10.0.8.0/22", wanted: false },
    { asked: "10.0.0.0/21", wanted: true },
  ])("isInUse() answers $wanted for $asked", ({ asked, wanted }) => {
    expect(wide().isInUse(range(asked))).toBe(wanted);
  });

  test("isInUse() sees single blocks in a whole", () => {
    const set = wide();
    set.occupy(range("10.0.13.0/24"));
    expect(set.isInUse(range("10.0.12.0/22"))).toBe(true);
  });

  test.each([
    { released: "10.0.4.0/21", sentence: "a longer one with the same begin" },
    { released: "10.0.0.0/21", sentence: "a longer one with the same end" },
    { released: "10.0.12.0/22", sentence: "another" },
  ])("release() leaves what is held alone when it is to release $sentence", ({ released }) => {
    const set = wide();
    expect([set.release(range(released)), set.used]).toEqual([0, 4]);
  });

  test("allocate() goes on behind them", () => {
    expect(take(wide(), 5).at(-1)).toBe("10.0.8.0/24");
  });
});

/** What both the set and its model are reported and asked. */
interface Blocks {
  readonly used: number;
  readonly isFull: boolean;
  isInUse(cidr: Cidr): boolean;
  allocate(): { readonly cidr: Cidr } | undefined;
  occupy(cidr: Cidr): number;
  release(cidr: Cidr): number;
}

/** The same with one list of all blocks and one of all that is held. */
class NaiveSet implements Blocks {
  readonly #blocks: readonly Cidr[];
  readonly #held: Cidr[] = [];
  #next = 0;

  constructor(blocks: readonly Cidr[]) {
    this.#blocks = blocks;
  }

  get used(): number {
    return this.#blocks.filter((block) => this.isInUse(block)).length;
  }

  get isFull(): boolean {
    return this.#blocks.every((block) => this.isInUse(block));
  }

  isInUse(cidr: Cidr): boolean {
    const touched = this.#blocks.filter((block) => touches(block, cidr));
    return this.#held.some((held) => touched.some((block) => touches(block, held)));
  }

  allocate(): { readonly cidr: Cidr } | undefined {
    const inOrder = [...this.#blocks.slice(this.#next), ...this.#blocks.slice(0, this.#next)];
    const cidr = inOrder.find((block) => !this.isInUse(block));
    if (cidr === undefined) return undefined;
    this.#next = (this.#blocks.indexOf(cidr) + 1) % this.#blocks.length;
    this.#held.push(cidr);
    return { cidr };
  }

  occupy(cidr: Cidr): number {
    const before = this.used;
    this.#held.push(cidr);
    return this.used - before;
  }

  release(cidr: Cidr): number {
    const before = this.used;
    const at = this.#held.findIndex(({ text }) => text === cidr.text);
    if (at >= 0) this.#held.splice(at, 1);
    return before - this.used;
  }
}

function touches(left: Cidr, right: Cidr): boolean {
  return contains(left, right) || contains(right, left);
}

type Step =
  | { readonly kind: "allocate" }
  | { readonly kind: "occupy"; readonly cidr: Cidr }
  | { readonly kind: "release"; readonly at: number };

function stepsOver(ranges: fc.Arbitrary<string>): fc.Arbitrary<readonly Step[]> {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant("allocate" as const) }),
    fc.record({ kind: fc.constant("occupy" as const), cidr: ranges.map(range) }),
    fc.record({ kind: fc.constant("release" as const), at: fc.nat(100) }),
  );
  return fc.array(step, { maxLength: 60 });
}

/** Everything that can be seen while the steps are gone, and after all is given back. */
function seenOf(blocks: Blocks, steps: readonly Step[]): readonly unknown[] {
  const held: Cidr[] = [];
  const seen = steps.map((step) => [stepOf(blocks, held, step), blocks.used, blocks.isFull]);
  for (const cidr of held) blocks.release(cidr);
  return [...seen, blocks.used];
}

function stepOf(blocks: Blocks, held: Cidr[], step: Step): unknown {
  switch (step.kind) {
    case "allocate": {
      const cidr = blocks.allocate()?.cidr;
      if (cidr !== undefined) held.push(cidr);
      return cidr?.text;
    }
    case "occupy":
      held.push(step.cidr);
      return [blocks.isInUse(step.cidr), blocks.occupy(step.cidr)];
    case "release":
      return held.splice(step.at % Math.max(1, held.length), 1).map((cidr) => blocks.release(cidr));
    default:
      return step satisfies never;
  }
}

describe("CidrSet does in any history what a list of all blocks would", () => {
  const ipv4 = fc
    .tuple(fc.integer({ min: 12, max: 35 }), fc.integer({ min: 18, max: 28 }))
    .map(([third, length]) => `10.8.${third}.0/${length}`);
  const ipv6 = fc
    .tuple(fc.nat(19), fc.integer({ min: 58, max: 68 }))
    .map(([fourth, length]) => `fd00:8:0:${fourth.toString(16)}::/${length}`);

  test.each([
    { sentence: "IPv4", cidr: "10.8.16.0/20", length: 24, ranges: ipv4, wideBlocks: 1024 },
    { sentence: "IPv4, ranges kept as wholes", cidr: "10.8.16.0/20", length: 24, ranges: ipv4, wideBlocks: 2 },
    { sentence: "IPv6", cidr: "fd00:8::/60", length: 64, ranges: ipv6, wideBlocks: 1024 },
    { sentence: "IPv6, ranges kept as wholes", cidr: "fd00:8::/60", length: 64, ranges: ipv6, wideBlocks: 1 },
  ])("$sentence", ({ cidr, length, ranges, wideBlocks }) => {
    const blocks = take(setOf(cidr, length), 16).map((text) => range(text ?? ""));
    fc.assert(
      fc.property(stepsOver(ranges), (steps) => {
        const set = new CidrSet(range(cidr), length, wideBlocks);
        expect(seenOf(set, steps)).toEqual([...seenOf(new NaiveSet(blocks), steps).slice(0, -1), 0]);
      }),
    );
  });
});
