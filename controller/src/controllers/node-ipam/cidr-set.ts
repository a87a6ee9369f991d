import { ADDRESS_BITS, type Cidr, prefixLength, rangeOf } from "../../util/cidr.ts";

/** One block handed out, and how many were passed over because they are in use. */
export interface AllocatedBlock {
  readonly cidr: Cidr;
  readonly passedOver: number;
}

/** Blocks from the first to the last, by number. */
interface Span {
  readonly begin: number;
  readonly end: number;
}

/** A range of more blocks than this is kept as a whole, so that memory follows the number of holders and not of addresses. */
const WIDE_BLOCKS = 1024;

/**
 * The blocks of one size that a range consists of, and how often each is in use. Blocks are handed out round robin, so that one that
 * came free is not used again soon: pkg/controller/nodeipam/ipam/cidrset/cidr_set.go v1.36.3. Unlike there, a block in use twice is
 * free only when both have given it back.
 */
export class CidrSet {
  /** What is divided. */
  readonly cidr: Cidr;
  /** How many blocks there are. */
  readonly capacity: number;
  readonly #blockLength: number;
  readonly #wideBlocks: number;
  /** log2 of the addresses in a block. */
  readonly #hostBits: bigint;
  readonly #holders = new Map<number, number>();
  readonly #wide: Span[] = [];
  #used = 0;
  #next = 0;

  /**
   * `blockLength` is that of the blocks' prefix: at least that of `cidr`, at most that of an address. Ranges of more than `wideBlocks`
   * blocks are kept as wholes.
   */
  constructor(cidr: Cidr, blockLength: number, wideBlocks = WIDE_BLOCKS) {
    this.cidr = cidr;
    this.capacity = 2 ** (blockLength - prefixLength(cidr));
    this.#blockLength = blockLength;
    this.#wideBlocks = wideBlocks;
    this.#hostBits = BigInt(ADDRESS_BITS[cidr.family] - blockLength);
  }

  /** Blocks in use. */
  get used(): number {
    return this.#used;
  }

  get isFull(): boolean {
    return this.#used === this.capacity;
  }

  /** Takes the next free block after the last one handed out. undefined: all are in use. */
  allocate(): AllocatedBlock | undefined {
    if (this.isFull) return undefined;
    const first = this.#next;
    let index = first;
    while (this.#isUsed(index)) index = this.#after(index);
    const cidr = this.#block(index);
    if (cidr === undefined) return undefined;
    this.#next = (index + 1) % this.capacity;
    this.#hold(index);
    return { cidr, passedOver: (index - first + this.capacity) % this.capacity };
  }

  /** Some addresses of `cidr` are in this set. */
  overlaps(cidr: Cidr): boolean {
    return this.#spanOf(cidr) !== undefined;
  }

  /** A block that `cidr` touches is in use. */
  isInUse(cidr: Cidr): boolean {
    const span = this.#spanOf(cidr);
    if (span === undefined) return false;
    if (this.#wide.some(({ begin, end }) => begin <= span.end && span.begin <= end)) return true;
    if (!this.#isWide(span)) return indexesOf(span).some((index) => this.#holders.has(index));
    return [...this.#holders.keys()].some((index) => covers(span, index));
  }

  /** Marks every block that `cidr` touches. Answers how many were free until now. */
  occupy(cidr: Cidr): number {
    const before = this.#used;
    const span = this.#spanOf(cidr);
    if (span === undefined) return 0;
    if (this.#isWide(span)) {
      this.#wide.push(span);
      this.#used = this.#count();
    } else for (const index of indexesOf(span)) this.#hold(index);
    return this.#used - before;
  }

  /** Takes one mark off every block that `cidr` touches. Answers how many are free now. What is not in use stays so. */
  release(cidr: Cidr): number {
    const before = this.#used;
    const span = this.#spanOf(cidr);
    if (span === undefined) return 0;
    if (this.#isWide(span)) {
      const at = this.#wide.findIndex(({ begin, end }) => begin === span.begin && end === span.end);
      if (at >= 0) this.#wide.splice(at, 1);
      this.#used = this.#count();
    } else for (const index of indexesOf(span)) this.#letGo(index);
    return before - this.#used;
  }

  #isWide({ begin, end }: Span): boolean {
    return end - begin >= this.#wideBlocks;
  }

  #isUsed(index: number): boolean {
    return this.#holders.has(index) || this.#isInWide(index);
  }

  #isInWide(index: number): boolean {
    return this.#wide.some((span) => covers(span, index));
  }

  #after(index: number): number {
    const wide = this.#wide.find((span) => covers(span, index));
    return ((wide?.end ?? index) + 1) % this.capacity;
  }

  #hold(index: number): void {
    const holders = this.#holders.get(index) ?? 0;
    this.#holders.set(index, holders + 1);
    if (holders === 0 && !this.#isInWide(index)) this.#used++;
  }

  #letGo(index: number): void {
    const holders = this.#holders.get(index);
    if (holders === undefined) return;
    if (holders > 1) {
      this.#holders.set(index, holders - 1);
      return;
    }
    this.#holders.delete(index);
    if (!this.#isInWide(index)) this.#used--;
  }

  #count(): number {
    let counted = 0;
    let upTo = -1;
    for (const { begin, end } of this.#wide.toSorted((left, right) => left.begin - right.begin)) {
      counted += Math.max(0, end - Math.max(begin - 1, upTo));
      upTo = Math.max(upTo, end);
    }
    for (const index of this.#holders.keys()) if (!this.#isInWide(index)) counted++;
    return counted;
  }

  #block(index: number): Cidr | undefined {
    const { family, first } = this.cidr;
    return rangeOf(family, first + (BigInt(index) << this.#hostBits), this.#blockLength);
  }

  /** Blocks with addresses of `cidr`; undefined: there are none. */
  #spanOf({ family, first, last }: Cidr): Span | undefined {
    const { cidr } = this;
    if (family !== cidr.family || last < cidr.first || cidr.last < first) return undefined;
    return {
      begin: first <= cidr.first ? 0 : this.#indexOf(first),
      end: cidr.last <= last ? this.capacity - 1 : this.#indexOf(last),
    };
  }

  #indexOf(address: bigint): number {
    return Number((address - this.cidr.first) >> this.#hostBits);
  }
}

function covers({ begin, end }: Span, index: number): boolean {
  return begin <= index && index <= end;
}

function indexesOf({ begin, end }: Span): readonly number[] {
  return Array.from({ length: end - begin + 1 }, (_, offset) => begin + offset);
}
