import { type FieldRule, fieldRules } from "../gen/rules.ts";

export type MeasuredMessage =
  /** `elements`: messages and entries of maps, at any depth. */
  { readonly kind: "valid"; readonly elements: number } | { readonly kind: "invalid"; readonly description: string };

/** Messages of the contract are at most seven deep. */
const maxDepth = 16;

const varintType = 0;
const fixed64Type = 1;
const bytesType = 2;
const fixed32Type = 5;

/**
 * Counts the elements of an encoded message before it is decoded: an element of two bytes takes hundreds when it is decoded. Unknown fields are
 * skipped, as by the decoder.
 */
export const measureMessage = (typeName: string, bytes: Uint8Array): MeasuredMessage => {
  const scan = new Scan(bytes);
  const description = scan.message(typeName, bytes.length, 1);
  return description === undefined ? { kind: "valid", elements: scan.elements } : { kind: "invalid", description };
};

const malformed = "is not a protobuf message";

class Scan {
  readonly #bytes: Uint8Array;
  #at = 0;
  elements = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Scans up to `end`. Returns what is wrong. */
  message(typeName: string, end: number, depth: number): string | undefined {
    if (depth > maxDepth) return `is nested more than ${maxDepth} messages deep`;
    this.elements++;
    const rules = rulesByNumber.get(typeName);
    while (this.#at < end) {
      const tag = this.#varint(end);
      const size = this.#sizeOf(tag & 7, end);
      if (tag < 0 || size === undefined || this.#at + size > end) return malformed;
      const valueEnd = this.#at + size;
      const rule = (tag & 7) === bytesType ? rules?.get(tag >>> 3) : undefined;
      if (rule?.kind === "map") this.elements++;
      if (rule?.message !== undefined && rulesByNumber.has(rule.message)) {
        const problem = this.message(rule.message, valueEnd, depth + 1);
        if (problem !== undefined) return problem;
      }
      this.#at = valueEnd;
    }
    return undefined;
  }

  /** Bytes of a value after its tag and length; undefined: a group, an unknown type, or cut off. */
  #sizeOf(wireType: number, end: number): number | undefined {
    switch (wireType) {
      case varintType:
        return this.#varint(end) < 0 ? undefined : 0;
      case fixed64Type:
        return 8;
      case bytesType: {
        const size = this.#varint(end);
        return size < 0 ? undefined : size;
      }
      case fixed32Type:
        return 4;
      default:
        return undefined;
    }
  }

  /** -1: cut off or too long. Only the low 32 bits count: a tag or a length does not need others. */
  #varint(end: number): number {
    let value = 0;
    for (let shift = 0; shift < 70 && this.#at < end; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (shift < 32) value = (value | ((byte & 127) << shift)) >>> 0;
      if (byte < 128) return value;
    }
    return -1;
  }
}

const rulesByNumber: ReadonlyMap<string, ReadonlyMap<number, FieldRule>> = new Map(
  Object.entries(fieldRules).map(([name, rules]) => [name, new Map(rules.map((rule) => [rule.number, rule]))]),
);
