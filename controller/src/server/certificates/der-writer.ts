/** Bytes in DER (ITU-T X.690), as far as a certificate of our own needs it. */
export type Der = Uint8Array<ArrayBuffer>;

/** One element: tag, length, content. */
function element(tag: number, ...content: readonly Uint8Array[]): Der {
  const bytes = Uint8Array.from(Buffer.concat(content));
  return Uint8Array.from([tag, ...lengthOf(bytes.length), ...bytes]);
}

export const sequence = (...items: readonly Der[]): Der => element(0x30, ...items);
export const set = (...items: readonly Der[]): Der => element(0x31, ...items);
export const octetString = (bytes: Uint8Array): Der => element(0x04, bytes);
export const utf8String = (text: string): Der => element(0x0c, new TextEncoder().encode(text));
export const TRUE: Der = element(0x01, Uint8Array.of(0xff));

/** `bytes` big-endian and not negative: the first bit clear, no zero in front that could go. */
export const integer = (bytes: Uint8Array): Der => element(0x02, bytes);

/** Bits from the left; the last `unusedBits` of the last byte count for nothing. */
export const bitString = (bytes: Uint8Array, unusedBits = 0): Der => element(0x03, Uint8Array.of(unusedBits), bytes);

/** `[number]` around one element. */
export const explicit = (number: number, item: Der): Der => element(0xa0 + number, item);

/** `[number]` in place of a primitive's own tag. */
export const implicit = (number: number, bytes: Uint8Array): Der => element(0x80 + number, bytes);

/** UTCTime, for years 1950 to 2049; whole seconds. */
export function utcTime(ms: number): Der {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, "");
  return element(0x17, new TextEncoder().encode(`${digits.slice(2, 14)}Z`));
}

export function objectIdentifier(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return element(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** Seven bits a byte; all but the last have the eighth set. */
function base128(arc: number): readonly number[] {
  const bytes = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift((left % 128) + 128);
  return bytes;
}

function lengthOf(length: number): readonly number[] {
  if (length < 128) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return [128 + bytes.length, ...bytes];
}
