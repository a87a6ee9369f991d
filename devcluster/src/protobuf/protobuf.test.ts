import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { decode } from "../schema/decode.ts";
import { typeTable } from "../schema/gen/type-table.ts";
import { createSchema } from "../schema/schema.ts";
import { decodeMessage } from "./decode-message.ts";
import { encodeMessage } from "./encode-message.ts";
import { unwrap, watchFrame, wrap } from "./envelope.ts";
import { createProtobufTranslator } from "./served-kinds.ts";
import { MessageWriter, readFields } from "./wire.ts";

const schema = createSchema(typeTable);
const node = schema.shape("core.v1.Node");

describe("readFields() and MessageWriter", () => {
  test("read back what was written", () => {
    const writer = new MessageWriter();
    writer.varint(1, 300n);
    writer.varint(2, -1n);
    writer.text(16, "é");
    expect(readFields(writer.finish())).toEqual([
      { kind: "varint", number: 1, value: 300n },
      { kind: "varint", number: 2, value: 2n ** 64n - 1n },
      { kind: "bytes", number: 16, value: Buffer.from("é") },
    ]);
  });

  test.each([
    ["a number without end", [0x08, 0x80]],
    ["a number of too many bytes", [0x08, ...Array.from({ length: 11 }, () => 0x80)]],
    ["a field longer than the message", [0x0a, 0x05, 0x01]],
    ["a group", [0x0b]],
  ])("refuse %s", (_, bytes) => {
    expect(() => readFields(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: "PROTOBUF" }));
  });
});

describe("encodeMessage() and decodeMessage()", () => {
  test("lose nothing of any Node", () => {
    if (node.kind !== "struct") throw new Error("a Node is no struct");
    const shape = node;
    const text = fc.string({ maxLength: 5 });
    const arbitrary = fc.record(
      {
        metadata: fc.record(
          {
            name: text,
            generation: fc.integer(),
            labels: fc.dictionary(text, text),
            finalizers: fc.array(text),
            creationTimestamp: fc.constantFrom(null, "2026-01-01T00:00:00Z"),
          },
          { requiredKeys: [] },
        ),
        spec: fc.record(
          { unschedulable: fc.boolean(), taints: fc.array(fc.record({ key: text, effect: text })) },
          { requiredKeys: [] },
        ),
        status: fc.record(
          {
            capacity: fc.dictionary(text, fc.constantFrom("1", "1500m", "2Gi")),
            images: fc.array(fc.record({ names: fc.array(text), sizeBytes: fc.maxSafeInteger() })),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(arbitrary, (input) => {
        const canonical = decode(shape, JSON.parse(JSON.stringify(input))).value;
        const object: JsonObject = JSON.parse(JSON.stringify(canonical));
        expect(decode(shape, decodeMessage(shape, encodeMessage(shape, object))).value).toEqual(canonical);
      }),
    );
  });
});

describe("wrap() and unwrap()", () => {
  const envelope = { apiVersion: "v1", kind: "Node", message: Uint8Array.of(1, 2, 3) };

  test("keep kind and message", () => {
    expect(unwrap(wrap(envelope))).toEqual({ ...envelope, message: Buffer.of(1, 2, 3) });
  });

  test("start with the prefix of Kubernetes", () => {
    expect(Buffer.from(wrap(envelope)).subarray(0, 4).toString("latin1")).toBe("k8s\0");
    expect(() => unwrap(Buffer.from('{"kind":"Node"}'))).toThrow(expect.objectContaining({ code: "PROTOBUF" }));
  });
});

test("watchFrame() says how long it is", () => {
  const frame = Buffer.from(watchFrame("ADDED", Uint8Array.of(9)));
  expect(frame.readUInt32BE()).toBe(frame.length - 4);
  expect(readFields(frame.subarray(4))).toMatchObject([{ number: 1, value: Buffer.from("ADDED") }, { number: 2 }]);
});

describe("createProtobufTranslator()", () => {
  const translator = createProtobufTranslator();

  test("translates the kinds that devcluster serves, Status and DeleteOptions", () => {
    for (const document of [
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { ports: [{ port: 80, targetPort: "http" }] },
      },
      {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: {},
        spec: { renewTime: "2026-01-01T00:00:00.000001Z" },
      },
      { apiVersion: "v1", kind: "Status", metadata: {}, code: 404, details: { name: "n" } },
      { apiVersion: "discovery.k8s.io/v1", kind: "DeleteOptions", preconditions: { uid: "u" } },
    ]) {
      const bytes = translator.toProtobuf(document);
      expect(bytes).toBeInstanceOf(Uint8Array);
      expect(translator.toJson(bytes ?? new Uint8Array())).toMatchObject(document);
    }
  });

  test("has no protobuf for what is not one of them", () => {
    expect(translator.toProtobuf({ apiVersion: "meta.k8s.io/v1", kind: "Table", rows: [] })).toBeUndefined();
    const stranger = wrap({ apiVersion: "apps/v1", kind: "Deployment", message: new Uint8Array() });
    expect(() => translator.toJson(stranger)).toThrow('no kind "Deployment" is registered for version "apps/v1"');
  });
});
