// What a program or library for Linux asks its loader for. 64 bits and little-endian: all that images are made for.

const MAGIC = "\x7fELF";
const HEADER = { programHeaders: 0x20, programHeaderSize: 0x36, programHeaderCount: 0x38 };
const SEGMENT = { type: 0x00, offset: 0x08, address: 0x10, fileSize: 0x20 };
const SEGMENT_TYPE = { load: 1, dynamic: 2, interpreter: 3 };
const DYNAMIC_ENTRY_BYTES = 16;
const DYNAMIC_TAG = { needed: 1, stringTable: 5 };

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly sizeBytes: number;
}

export interface Loads {
  /** Names of libraries. */
  readonly libraries: readonly string[];
  /** Path of the loader itself, of a program. */
  readonly interpreter?: string;
}

/** Nothing for a file that is no such program or library. */
export function loadsOf(file: Buffer): Loads | undefined {
  if (file.length < 64 || file.toString("latin1", 0, 4) !== MAGIC) return undefined;
  const segments = segmentsOf(file);
  const interpreter = segments.find(({ type }) => type === SEGMENT_TYPE.interpreter);
  return {
    libraries: librariesOf(file, segments),
    ...(interpreter && { interpreter: textAt(file, interpreter.offset) }),
  };
}

function segmentsOf(file: Buffer): readonly Segment[] {
  const start = numberAt(file, HEADER.programHeaders);
  const size = file.readUInt16LE(HEADER.programHeaderSize);
  return Array.from({ length: file.readUInt16LE(HEADER.programHeaderCount) }, (_, index) => {
    const at = start + index * size;
    return {
      type: file.readUInt32LE(at + SEGMENT.type),
      offset: numberAt(file, at + SEGMENT.offset),
      address: numberAt(file, at + SEGMENT.address),
      sizeBytes: numberAt(file, at + SEGMENT.fileSize),
    };
  });
}

function librariesOf(file: Buffer, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ type }) => type === SEGMENT_TYPE.dynamic);
  if (dynamic === undefined) return [];
  const entries = Array.from({ length: Math.floor(dynamic.sizeBytes / DYNAMIC_ENTRY_BYTES) }, (_, index) => {
    const at = dynamic.offset + index * DYNAMIC_ENTRY_BYTES;
    return { tag: numberAt(file, at), value: numberAt(file, at + 8) };
  });
  const table = entries.find(({ tag }) => tag === DYNAMIC_TAG.stringTable);
  if (table === undefined) return [];
  const strings = offsetOf(table.value, segments);
  return entries.filter(({ tag }) => tag === DYNAMIC_TAG.needed).map(({ value }) => textAt(file, strings + value));
}

/** Where in the file that is which is at the address in memory. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const segment = segments.find(
    ({ type, address: start, sizeBytes }) =>
      type === SEGMENT_TYPE.load && start <= address && address < start + sizeBytes,
  );
  if (segment === undefined) throw new Error(`address ${address} is in no segment of the file`);
  return address - segment.address + segment.offset;
}

function numberAt(file: Buffer, offset: number): number {
  return Number(file.readBigUInt64LE(offset));
}

function textAt(file: Buffer, offset: number): string {
  return file.toString("latin1", offset, file.indexOf(0, offset));
}
