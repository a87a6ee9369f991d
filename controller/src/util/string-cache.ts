import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** 32 KiB of pointers per client. About ten texts of a Node are unique: one of them evicts a shared text once in hundreds of Nodes. */
const SLOTS = 1 << 12;

/** Longer texts rarely repeat. */
const MAX_CACHED_BYTES = 64;

/** A direct-mapped cache of ASCII texts. Label keys, zones and versions repeat on every Node: sharing them saves two thirds of the heap. */
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
    // Only ASCII is cached: its bytes equal UTF-16 units, so the comparison below is exact.
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

/** Returned for skipped fields; unused. */
const SKIPPED = new Uint8Array(0);

/** Protobuf reader that takes texts from a {@link StringCache}. Invalid UTF-8 becomes U+FFFD, as in Go's JSON. */
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

  /** Most of a Node is skipped (images, managed fields); a view of each skipped field would cost a quarter of the decoding time. */
  override skip(wireType: WireType, fieldNo?: number, recursionLimit?: number): Uint8Array {
    if (wireType !== WireType.LengthDelimited) return super.skip(wireType, fieldNo, recursionLimit);
    const length = this.uint32();
    this.pos += length;
    if (this.pos > this.len) throw new RangeError("protobuf field runs past the end of the message");
    return SKIPPED;
  }
}
