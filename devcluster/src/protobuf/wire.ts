/** One field of a protobuf message as it is on the wire. */
export type WireField =
  | { readonly kind: "varint"; readonly number: number; readonly value: bigint }
  | { readonly kind: "bytes"; readonly number: number; readonly value: Uint8Array };

/** Bytes that are no protobuf message of the kinds that Kubernetes has. */
export class ProtobufError extends Error {
  readonly code = "PROTOBUF";
}

const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
const fixed32 = 5;

/** Takes a message apart; throws ProtobufError when it ends too early or has a wire type that Kubernetes does not use. */
export function readFields(message: Uint8Array): readonly WireField[] {
  const fields: WireField[] = [];
  let position = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[position];
      if (byte === undefined) throw new ProtobufError("the message ends inside a number");
      position += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError("a number has more than 10 bytes");
  };
  while (position < message.length) {
    const tag = Number(readVarint());
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === varint) {
      fields.push({ kind: "varint", number, value: readVarint() });
      continue;
    }
    if (wireType !== lengthDelimited && wireType !== fixed64 && wireType !== fixed32) {
      throw new ProtobufError(`field ${number} has wire type ${wireType}`);
    }
    const length = wireType === lengthDelimited ? Number(readVarint()) : wireType === fixed64 ? 8 : 4;
    if (position + length > message.length) throw new ProtobufError(`the message ends inside field ${number}`);
    fields.push({ kind: "bytes", number, value: message.subarray(position, position + length) });
    position += length;
  }
  return fields;
}

/** Puts a message together. */
export class MessageWriter {
  readonly #parts: Uint8Array[] = [];

  varint(number: number, value: bigint): void {
    this.#parts.push(encodeVarint(BigInt(number * 8 + varint)), encodeVarint(BigInt.asUintN(64, value)));
  }

  bytes(number: number, value: Uint8Array): void {
    const head = [encodeVarint(BigInt(number * 8 + lengthDelimited)), encodeVarint(BigInt(value.length))];
    this.#parts.push(...head, value);
  }

  text(number: number, value: string): void {
    this.bytes(number, Buffer.from(value));
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}

function encodeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
