import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Any } from "@cloudwire/proto/google/protobuf/any";
import { RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import { type RawReply, frame } from "./raw-provider.ts";

/** 63 MB, as in the attack. */
const BOMB_BYTES = 63_000_000;
const bomb = gzipSync(Buffer.alloc(BOMB_BYTES));

const TEXTS = [
  "",
  "a",
  "acme://i-1",
  "not an ip",
  "999.1.1.1",
  "192.0.2.1",
  "10.0.0.0/8",
  "\u001B[2J\u0000\r",
  "x".repeat(5000),
  "ü".repeat(300),
  "../../etc",
] as const;

/** A sequence of numbers that is the same for the same seed: xorshift32. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Random = ReturnType<typeof randomOf>;

/** A message with random fields of the contract, of which some have the wrong type. */
function randomMessage(typeName: string, random: Random, depth: number): Uint8Array {
  const writer = new BinaryWriter();
  for (const rule of fieldRules[typeName] ?? []) {
    const repeats = rule.kind === "list" || rule.kind === "map" ? random(4) : random(2);
    for (let index = 0; index < repeats; index++) writeField(writer, rule, random, depth);
  }
  return writer.finish();
}

function writeField(writer: BinaryWriter, rule: FieldRule, random: Random, depth: number): void {
  const { number, message } = rule;
  if (message !== undefined && depth > 0 && random(10) > 0) {
    writer.tag(number, WireType.LengthDelimited).bytes(randomMessage(message, random, depth - 1));
  } else if (random(3) === 0) {
    writer.tag(number, WireType.Varint).uint64(2 ** random(53));
  } else {
    writer.tag(number, WireType.LengthDelimited).string(TEXTS[random(TEXTS.length)] ?? "");
  }
}

function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let index = 0; index <= random(4) && copy.length > 0; index++) copy[random(copy.length)] = random(256);
  return copy.subarray(0, copy.length - random(3));
}

/** The `index`-th broken response of a method. */
export function brokenReply(method: string, index: number): RawReply {
  const random = randomOf(index * 2_654_435_761);
  const typeName = `cloudprovider.v1.${method}Response`;
  const message = (): Uint8Array => randomMessage(typeName, random, 6);
  if (index % 1999 === 0) return { frames: [frame(bomb, true)], encoding: "gzip" };
  if (index % 251 === 1) return { frames: [frame(Buffer.alloc(1024 * 1024, Uint8Array.of(0x0a, 0)))] };
  if (index % 251 === 2) return { frames: [frame(Buffer.alloc(2 * 1024 * 1024))] };
  // Rare: the transport waits for the deadline of the call.
  if (index % 1999 === 3) return { frames: [frame(message()), frame(message())] };
  switch (random(10)) {
    case 0:
      return { frames: [frame(damaged(message(), random))] };
    case 1:
      return { frames: [frame(gzipSync(message()), true)], encoding: random(2) === 0 ? "gzip" : "deflate" };
    case 2:
      return { status: random(20), message: "\u001B".repeat(random(20_000)), details: errorDetails(random) };
    case 3:
      return { frames: [frame(damaged(gzipSync(message()), random), true)], encoding: "gzip" };
    case 4:
      return { frames: random(2) === 0 ? [] : [Uint8Array.of(0, 0, 0, 0, 99, 1)] };
    default:
      return { frames: [frame(message())] };
  }
}

function errorDetails(random: Random): Uint8Array {
  if (random(3) === 0) return damaged(Buffer.alloc(random(20_000), "x"), random);
  const retryDelay = { seconds: BigInt(random(3) - 1), nanos: 0 };
  const value = Buffer.from(RetryInfo.encode(RetryInfo.fromPartial({ retryDelay })).finish());
  const details = Array.from({ length: random(50) }, () =>
    Any.fromPartial({ typeUrl: "type.googleapis.com/google.rpc.RetryInfo", value }),
  );
  return Status.encode(Status.fromPartial({ code: 14, message: "m", details })).finish();
}

/** A response of 63 MB that has 61 kB on the wire. */
export const GZIP_BOMB: RawReply = { frames: [frame(bomb, true)], encoding: "gzip" };
