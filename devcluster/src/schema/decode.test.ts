import { describe, expect, test } from "vitest";
import fc from "fast-check";
import type { Json } from "../json.ts";
import { decode } from "./decode.ts";
import { typeTable } from "./gen/type-table.ts";
import { createSchema } from "./schema.ts";
import type { TypeTable } from "./types.ts";

const table: TypeTable = {
  "test.v1.Thing": {
    name: { type: "string", omit: true },
    plain: { type: "string" },
    count: { type: "int32", omit: true },
    wanted: { type: "bool", omit: true, pointer: true },
    list: { type: "[]string", omit: true },
    must: { type: "[]string" },
    labels: { type: "{}string", omit: true },
    inner: { type: "test.v1.Inner" },
    maybe: { type: "test.v1.Inner", omit: true, pointer: true },
    size: { type: "Quantity", omit: true, pointer: true },
    at: { type: "Time" },
    port: { type: "IntOrString" },
  },
  "test.v1.Inner": { value: { type: "string", omit: true } },
};
const thing = createSchema(table).shape("test.v1.Thing");
const empty = { plain: "", must: null, inner: {}, at: null, port: 0 };

describe("decode()", () => {
  test.each<[string, Json, object]>([
    ["spells out what Go does not omit", {}, {}],
    ["leaves out empty values", { name: "", count: 0, list: [], labels: {} }, {}],
    ["keeps zero behind a pointer", { wanted: false, maybe: {} }, { wanted: false, maybe: {} }],
    ["takes null for absent", { name: null, list: null, maybe: null, inner: null }, {}],
    ["stores an empty list as none", { must: [] }, { must: null }],
    ["orders the keys of maps", { labels: { b: "2", a: "1" } }, { labels: { a: "1", b: "2" } }],
    [
      "brings quantities and times into canonical form",
      { size: "1000m", at: "2026-01-01T00:00:00.5Z" },
      { size: "1", at: "2026-01-01T00:00:00Z" },
    ],
    ["takes a number for a quantity", { size: 2000 }, { size: "2k" }],
    ["takes a number or a name for a port", { port: "http" }, { port: "http" }],
    ["drops managedFields without a word", { managedFields: [{}] }, {}],
  ])("%s", (_, input, expected) => {
    expect(decode(thing, input)).toEqual({ value: { ...empty, ...expected }, unknownFields: [] });
  });

  test("names unknown fields in the order of the document", () => {
    const input = { zebra: 1, inner: { what: 1 }, maybe: { value: "x", that: { deep: 1 } }, ant: 2 };
    expect(decode(thing, input).unknownFields).toEqual(["zebra", "inner.what", "maybe.that", "ant"]);
  });

  test.each<[string, Json, string]>([
    [
      "a number for a string",
      { name: 5 },
      "json: cannot unmarshal number into Go struct field Thing.name of type string",
    ],
    [
      "a string for a number",
      { count: "5" },
      "json: cannot unmarshal string into Go struct field Thing.count of type int32",
    ],
    [
      "a fraction for a whole number",
      { count: 1.5 },
      "json: cannot unmarshal number into Go struct field Thing.count of type int32",
    ],
    [
      "more than 32 bits",
      { count: 2 ** 31 },
      "json: cannot unmarshal number into Go struct field Thing.count of type int32",
    ],
    [
      "an object for a list",
      { list: {} },
      "json: cannot unmarshal object into Go struct field Thing.list of type a list",
    ],
    [
      "a list for an object",
      { inner: [] },
      "json: cannot unmarshal array into Go struct field Thing.inner of type an object",
    ],
    ["a bad element", { list: [1] }, "json: cannot unmarshal number into Go struct field Thing.list[0] of type string"],
    [
      "no quantity",
      { size: "lots" },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ["no time", { at: "noon" }, 'parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse it'],
  ])("refuses %s", (_, input, message) => {
    expect(() => decode(thing, input)).toThrow(message);
  });

  test("is idempotent for any JSON that it accepts as a Node", () => {
    const node = createSchema(typeTable).shape("core.v1.Node");
    const text = fc.constantFrom("", "a", "b");
    const arbitrary = fc.record(
      {
        metadata: fc.record(
          { name: text, labels: fc.dictionary(text, text), finalizers: fc.array(text) },
          { requiredKeys: [] },
        ),
        spec: fc.record({ unschedulable: fc.boolean(), podCIDRs: fc.array(text) }, { requiredKeys: [] }),
        status: fc.record(
          {
            capacity: fc.dictionary(text, fc.constantFrom("1000m", "1Gi", "0")),
            addresses: fc.array(fc.record({ type: text, address: text })),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(arbitrary, (input) => {
        const once = decode(node, JSON.parse(JSON.stringify(input))).value;
        expect(decode(node, once).value).toEqual(once);
      }),
    );
  });
});

test("the generated table names no type that it lacks", () => {
  const schema = createSchema(typeTable);
  const fields = Object.values(typeTable).flatMap((type) => Object.values(type));
  expect(fields.map(({ type }) => schema.shape(type).kind)).not.toContain(undefined);
});
