import { ADDRESS_BITS, type Cidr, prefixLength, rangeOf } from "../../util/cidr.ts";

/** `passedOver`: blocks in use before it. */
export interface AllocatedBlock {
  readonly cidr: Cidr;
  readonly passedOver: number;
}

/** Blocks from the first to the last, by number. */
interface Span {
  readonly begin: number;
  readonly end: number;
}

/** A CIDR of more blocks is stored as one span, so that memory does not grow with the number of addresses. */
const WIDE_BLOCKS = 1024;

/**
 * The blocks of one size in a CIDR, and how often each is in use. Blocks are allocated round-robin, so that a freed one is not reused soon:
 * pkg/controller/nodeipam/ipam/cidrset/cidr_set.go v1.36.3. Unlike upstream, a block in use twice is free only after two releases.
 */
export class CidrSet {
  readonly cidr: Cidr;
  /** Number of blocks. */
  readonly capacity: number;
  readonly #blockLength: number;
  readonly #wideBlocks: number;
  /** log2 of the addresses in a block. */
  readonly #hostBits: bigint;
  readonly #uses = new Map<number, number>();
  readonly #wide: Span[] = [];
  #used = 0;
  #next = 0;

  /** @param blockLength prefix length of the blocks: at least that of `cidr`, at most that of an address. */
  constructor(cidr: Cidr, blockLength: number, wideBlocks = WIDE_BLOCKS) {
    this.cidr = cidr;
    this.capacity = 2 ** (blockLength - prefixLength(cidr));
    this.#blockLength = blockLength;
    this.#wideBlocks = wideBlocks;
    this.#hostBits = BigInt(ADDRESS_BITS[cidr.family] - blockLength);
  }

  get used(): number {
    return this.#used;
  }

  get isFull(): boolean {
    return this.#used === this.capacity;
  }

  /** Takes the next free block after the last allocated one. undefined: all are in use. */
  allocate(): AllocatedBlock | undefined {
    if (this.isFull) return undefined;
    const first = this.#next;
    let index = first;
    while (this.#isUsed(index)) index = this.#after(index);
    const cidr = this.#block(index);
    if (cidr === undefined) return undefined;
    this.#next = (index + 1) % this.capacity;
    this.#use(index);
    return { cidr, passedOver: (index - first + this.capacity) % this.capacity };
  }

  overlaps(cidr: Cidr): boolean {
    return this.#spanOf(cidr) !== undefined;
  }

  isInUse(cidr: Cidr): boolean {
    const span = this.#spanOf(cidr);
    if (span === undefined) return false;
    if (this.#wide.some(({ begin, end }) => begin <= span.end && span.begin <= end)) return true;
    if (!this.#isWide(span)) return indexesOf(span).some((index) => this.#uses.has(index));
    return [...this.#uses.keys()].some((index) => covers(span, index));
  }

  /** Marks every block that `cidr` touches. Returns how many were free before. */
  occupy(cidr: Cidr): number {
    const before = this.#used;
    const span = this.#spanOf(cidr);
    if (span === undefined) return 0;
    if (this.#isWide(span)) {
      this.#wide.push(span);
      this.#used = this.#count();
    } else for (const index of indexesOf(span)) this.#use(index);
    return this.#used - before;
  }

  /** Removes one mark from every block that `cidr` touches. Returns how many became free. */
  release(cidr: Cidr): number {
    const before = this.#used;
    const span = this.#spanOf(cidr);
    if (span === undefined) return 0;
    if (this.#isWide(span)) {
      const at = this.#wide.findIndex(({ begin, end }) => begin === span.begin && end === span.end);
      if (at >= 0) this.#wide.splice(at, 1);
      this.#used = this.#count();
    } else for (const index of indexesOf(span)) this.#free(index);
    return before - this.#used;
  }

  #isWide({ begin, end }: Span): boolean {
    return end - begin >= this.#wideBlocks;
  }

  #isUsed(index: number): boolean {
    return this.#uses.has(index) || this.#isInWide(index);
  }

  #isInWide(index: number): boolean {
    return this.#wide.some((span) => covers(span, index));
  }

  #after(index: number): number {
    const wide = this.#wide.find((span) => covers(span, index));
    return ((wide?.end ?? index) + 1) % this.capacity;
  }

  #use(index: number): void {
    const uses = this.#uses.get(index) ?? 0;
    this.#uses.set(index, uses + 1);
    if (uses === 0 && !this.#isInWide(index)) this.#used++;
  }

  #free(index: number): void {
    const uses = this.#uses.get(index);
    if (uses === undefined) return;
    if (uses > 1) {
      this.#uses.set(index, uses - 1);
      return;
    }
    this.#uses.delete(index);
    if (!this.#isInWide(index)) this.#used--;
  }

  #count(): number {
    let counted = 0;
    let upTo = -1;
    for (const { begin, end } of this.#wide.toSorted((left, right) => left.begin - right.begin)) {
      counted += Math.max(0, end - Math.max(begin - 1, upTo));
      upTo = Math.max(upTo, end);
    }
    for (const index of this.#uses.keys()) if (!this.#isInWide(index)) counted++;
    return counted;
  }

  #block(index: number): Cidr | undefined {
    const { family, first } = this.cidr;
    return rangeOf(family, first + (BigInt(index) << this.#hostBits), this.#blockLength);
  }

  /** Blocks with addresses of `cidr`; undefined: none. */
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
