import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FrameReader, lengthPrefixReader, lineReader } from "./watch.ts";

/** Feeds `stream` cut at `cuts` and collects what comes out. */
function read(reader: FrameReader, stream: Buffer, cuts: readonly number[]): readonly string[] {
  const edges = [0, ...cuts.map((cut) => cut % (stream.length + 1)), stream.length].sort((a, b) => a - b);
  return edges.flatMap((edge, index) => {
    const chunk = stream.subarray(edges[index - 1] ?? 0, edge);
    return reader.push(chunk).map((frame) => Buffer.from(frame).toString("hex"));
  });
}

const withPrefix = (frame: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(frame.length);
  return Buffer.concat([prefix, frame]);
};

describe("lengthPrefixReader()", () => {
  test("finds the same frames however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300, size: "max" })), fc.array(fc.nat(5000)), (frames, cuts) => {
        const stream = Buffer.concat(frames.map(withPrefix));
        expect(read(lengthPrefixReader(), stream, cuts)).toEqual(
          frames.map((frame) => Buffer.from(frame).toString("hex")),
        );
      }),
    );
  });

  test("refuses a length no object can have", () => {
    expect(() => lengthPrefixReader().push(Buffer.from("7fffffff00", "hex"))).toThrow(RangeError);
  });
});

describe("lineReader()", () => {
  test("finds the same lines however the stream is cut", () => {
    const line = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => text.replaceAll("\n", "_"));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(5000)), (lines, cuts) => {
        const stream = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        expect(read(lineReader(), stream, cuts)).toEqual(lines.map((text) => Buffer.from(text).toString("hex")));
      }),
    );
  });

  test("skips empty lines and keeps an unfinished one back", () => {
    const reader = lineReader();
    expect(reader.push(Buffer.from("\n\na\n\nb")).map((frame) => Buffer.from(frame).toString())).toEqual(["a"]);
    expect(reader.push(Buffer.from("c\n")).map((frame) => Buffer.from(frame).toString())).toEqual(["bc"]);
  });
});
