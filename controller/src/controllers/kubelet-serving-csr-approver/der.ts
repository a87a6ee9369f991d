/** One element of a DER encoding (X.690): tag, length, content. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly raw: Uint8Array;
}

/** Tags of X.690 in certificate requests. `[n]` is context-specific: primitive 0x80 + n, constructed 0xa0 + n. */
export const TAGS = {
  boolean: 0x01,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  sequence: 0x30,
  set: 0x31,
} as const;

export class DerError extends Error {
  readonly code = "DER";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DerError";
  }
}

/**
 * The consecutive elements in `bytes`. Accepts only DER, in which each value has one encoding, so that two readers cannot see different
 * values. Throws {@link DerError}.
 */
export function readDer(bytes: Uint8Array): readonly DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { start, end } = extentOf(bytes, at);
    elements.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, end), raw: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** Dotted text of an object identifier; hex if it is invalid. */
export function oidText(content: Uint8Array): string {
  const hex = Buffer.from(content).toString("hex");
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    if (number === 0 && byte === 0x80) return hex;
    number = number * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [first, ...rest] = numbers;
  const isWhole = (content.at(-1) ?? 0xff) < 0x80 && numbers.every(Number.isSafeInteger);
  if (first === undefined || !isWhole) return hex;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - 40 * root, ...rest].join(".");
}

/** Start and end of the content of the element at `at`. */
function extentOf(bytes: Uint8Array, at: number): { readonly start: number; readonly end: number } {
  const [tag = 0, length, high = 0, low = 0] = bytes.subarray(at, at + 4);
  if ((tag & LONG_TAG) === LONG_TAG) throw new DerError("a tag of several bytes");
  if (length === undefined) throw new DerError("it ends in the middle of an element");
  const extent = lengthOf(length, high, low);
  const start = at + 1 + extent.bytes;
  const end = start + extent.length;
  if (end > bytes.length) throw new DerError("an element is longer than what holds it");
  return { start, end };
}

/** Tag numbers from 31 on need more bytes and are not used here. */
const LONG_TAG = 0x1f;

/** Definite, minimal, and below 64 KiB. */
function lengthOf(first: number, high: number, low: number): { readonly bytes: number; readonly length: number } {
  if (first < 0x80) return { bytes: 1, length: first };
  if (first === 0x81 && high >= 0x80) return { bytes: 2, length: high };
  if (first === 0x82 && high > 0) return { bytes: 3, length: high * 256 + low };
  throw new DerError("a length that is not in DER, or too large");
}
