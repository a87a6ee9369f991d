import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/**
 * Slots of the cache: 2^12 pointers are 32 KiB, and there is one cache for each client. Of a Node about ten texts are its alone; so few push
 * one that all Nodes share out of its slot once in hundreds of Nodes.
 */
const SLOTS = 1 << 12;

/** Longer texts hardly ever repeat. */
const MAX_CACHED_BYTES = 64;

/**
 * Label keys, zones and versions repeat on every node: decoding them to one shared string keeps a third of the heap.
 * A direct-mapped cache of ASCII texts; one for each client.
 */
export class StringCache {
  readonly #slots: (string | undefined)[] = Array.from({ length: SLOTS });

  /** The text in `bytes[start, end)`. */
  read(bytes: Buffer, start: number, end: number): string {
    if (end - start > MAX_CACHED_BYTES) return bytes.toString("utf8", start, end);
    let hash = 0x811c9dc5;
    let seen = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i] ?? 0;
      seen |= byte;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    // Only ASCII is cached: there a byte equals a UTF-16 unit, so the comparison below is exact.
    if (seen >= 0x80) return bytes.toString("utf8", start, end);
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    const cached = this.#slots[slot];
    if (cached !== undefined && sameAscii(cached, bytes, start, end)) return cached;
    const text = bytes.toString("latin1", start, end);
    this.#slots[slot] = text;
    return text;
  }
}

function sameAscii(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = start; i < end; i++) {
    if (text.charCodeAt(i - start) !== bytes[i]) return false;
  }
  return true;
}

/** What a {@link BinaryReader} answers of a field that it passed over; nobody looks at it. */
const PASSED_OVER = new Uint8Array(0);

/** Protobuf reader whose texts come from a {@link StringCache}. Invalid UTF-8 becomes U+FFFD, as in Go's JSON. */
export class InterningReader extends BinaryReader {
  readonly #bytes: Buffer;
  readonly #cache: StringCache;

  constructor(bytes: Uint8Array, cache: StringCache) {
    super(bytes);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#cache = cache;
  }

  override string(): string {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError("protobuf text runs past the end of the message");
    return this.#cache.read(this.#bytes, start, this.pos);
  }

  /** Most of a Node is passed over (images, managed fields): making a view of each such field was a quarter of the decoder's work. */
  override skip(wireType: WireType, fieldNo?: number, recursionLimit?: number): Uint8Array {
    if (wireType !== WireType.LengthDelimited) return super.skip(wireType, fieldNo, recursionLimit);
    const length = this.uint32();
    this.pos += length;
    if (this.pos > this.len) throw new RangeError("protobuf field runs past the end of the message");
    return PASSED_OVER;
  }
}
