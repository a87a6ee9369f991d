/** One element of DER (ITU-T X.690): its tag, its length, what is in it. */
export const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const inside = Buffer.concat(content);
  return Buffer.concat([Uint8Array.of(tag), lengthOf(inside.length), inside]);
};

/** Below 128 one byte; else how many bytes follow, and those. */
const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Uint8Array.of(0x80 + digits.length), digits]);
};

/** OCTET STRING. */
export const bytes = (value: Uint8Array): Buffer => der(0x04, value);
/** UTF8String. */
export const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
/** INTEGER that is not negative: first bit clear, no zero in front. */
export const number = (value: Uint8Array): Buffer => der(0x02, value);
/** BIT STRING whose last byte has bits that count for nothing. */
export const bits = (value: Uint8Array, unused: number): Buffer => der(0x03, Uint8Array.of(unused), value);
/** UTCTime: years 1950 to 2049. */
export const time = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14)}Z`));

/** OBJECT IDENTIFIER: the first two arcs in one byte, the others in groups of seven bits. */
export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return der(0x06, Uint8Array.from([first * 40 + second, ...others.flatMap(sevenBits)]));
};

const sevenBits = (arc: number): readonly number[] =>
  arc < 0x80 ? [arc] : [...sevenBits(arc >> 7).map((byte) => byte | 0x80), arc & 0x7f];

/** The elements that stand one after the other in a piece of DER. */
export const elements = (
  input: Uint8Array,
): readonly { readonly tag: number; readonly content: Buffer; readonly whole: Buffer }[] => {
  const found = [];
  const buffer = Buffer.from(input);
  for (let at = 0; at < buffer.length; ) {
    const short = buffer.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short - 0x80;
    const start = at + 2 + lengthBytes;
    const end = start + (lengthBytes === 0 ? short : buffer.readUIntBE(at + 2, lengthBytes));
    found.push({ tag: buffer.readUInt8(at), content: buffer.subarray(start, end), whole: buffer.subarray(at, end) });
    at = end;
  }
  return found;
};
