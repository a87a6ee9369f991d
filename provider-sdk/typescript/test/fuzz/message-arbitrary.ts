import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@cloudwire/proto/descriptor-set";
import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import * as fc from "fast-check";

/** Values that a field should mostly hold, by message and field name, so that a request gets past the first check. */
export type Likely = Readonly<Record<string, readonly string[]>>;

/** Messages nest no deeper than this. */
const maxDepth = 6;

/** Makes well-formed messages of the contract by its descriptors, as bytes: all fields, each oneof, unknown numbers of enums and fields. */
export class MessageArbitraries {
  readonly #registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));
  readonly #likely: Likely;
  readonly #made = new Map<string, fc.Arbitrary<Uint8Array>>();

  constructor(likely: Likely) {
    this.#likely = likely;
  }

  /** Requests of a method, `BatchGetInstances`. */
  requestOf(method: string): fc.Arbitrary<Uint8Array> {
    return this.message(`cloudprovider.v1.${method}Request`);
  }

  /** Messages of a type by its full name. */
  message(typeName: string, depth = 0): fc.Arbitrary<Uint8Array> {
    const desc = this.#registry.getMessage(typeName);
    if (!desc) throw new TypeError(`the contract has no message ${typeName}`);
    const key = `${typeName} ${depth}`;
    const made = this.#made.get(key) ?? this.#make(desc, depth);
    this.#made.set(key, made);
    return made;
  }

  #make(desc: DescMessage, depth: number): fc.Arbitrary<Uint8Array> {
    const fields = desc.fields.filter((field) => field.message === undefined || depth < maxDepth);
    return fc
      .tuple(
        fc.tuple(...fields.map((field) => this.#field(field, depth))),
        // Receivers ignore what they do not know, and take the last of several values (SHAPE-5).
        fc.option(unknownField, { freq: 8, nil: nothing }),
        fc.boolean(),
      )
      .map(([chunks, unknown, reversed]) => Buffer.concat([...(reversed ? chunks.toReversed() : chunks), unknown]));
  }

  /** A field as it stands in a message; often nothing, but for one that is required. */
  #field(field: DescField, depth: number): fc.Arbitrary<Uint8Array> {
    const rule = fieldRules[field.parent.typeName]?.find(({ name }) => name === field.name);
    const required = rule?.required === true || this.#likelyTexts(field) !== undefined;
    return fc.oneof(
      { arbitrary: fc.constant<Uint8Array>(nothing), weight: required ? 1 : 100 },
      { arbitrary: this.#present(field, rule, depth), weight: required ? 300 : 100 },
    );
  }

  #present(field: DescField, rule: FieldRule | undefined, depth: number): fc.Arbitrary<Uint8Array> {
    switch (field.fieldKind) {
      case "scalar":
        return this.#scalar(field.scalar, rule, this.#likelyTexts(field)).map((write) => encode(field.number, write));
      case "enum":
        return enumNumber(field.enum, rule).map((value) =>
          encode(field.number, { wireType: WireType.Varint, write: (writer) => writer.int32(value) }),
        );
      case "message":
        return this.message(field.message.typeName, depth + 1).map((bytes) => delimited(field.number, bytes));
      case "list":
        return this.#list(field, rule, depth);
      case "map":
        return this.#map(field, rule, depth);
      default:
        throw new TypeError(`unknown kind of field ${String(field satisfies never)}`);
    }
  }

  #list(
    field: DescField & { readonly fieldKind: "list" },
    rule: FieldRule | undefined,
    depth: number,
  ): fc.Arbitrary<Uint8Array> {
    const one = this.#listItem(field, rule, depth);
    const most = rule?.maxItems ?? 200;
    return fc.oneof(
      {
        arbitrary: fc
          .array(one, { minLength: rule?.required ? 1 : 0, maxLength: 3 })
          .map((items) => Buffer.concat(items)),
        weight: 60,
      },
      // As many as are allowed, one more, and many.
      {
        arbitrary: fc
          .tuple(one, fc.constantFrom(most, most + 1, 5_000))
          .map(([item, times]) =>
            Buffer.concat(Array.from({ length: Math.min(times, 200_000 / (item.length + 1)) }, () => item)),
          ),
        weight: 1,
      },
    );
  }

  #listItem(
    field: DescField & { readonly fieldKind: "list" },
    rule: FieldRule | undefined,
    depth: number,
  ): fc.Arbitrary<Uint8Array> {
    switch (field.listKind) {
      case "scalar":
        return this.#scalar(field.scalar, rule, this.#likelyTexts(field)).map((write) => encode(field.number, write));
      case "enum":
        return enumNumber(field.enum, rule).map((value) =>
          encode(field.number, { wireType: WireType.Varint, write: (writer) => writer.int32(value) }),
        );
      case "message":
        return this.message(field.message.typeName, depth + 1).map((bytes) => delimited(field.number, bytes));
      default:
        throw new TypeError(`unknown kind of list ${String(field satisfies never)}`);
    }
  }

  #map(
    field: DescField & { readonly fieldKind: "map" },
    rule: FieldRule | undefined,
    depth: number,
  ): fc.Arbitrary<Uint8Array> {
    const value =
      field.mapKind === "message"
        ? this.message(field.message.typeName, depth + 1).map((bytes) => delimited(2, bytes))
        : this.#scalar(field.mapKind === "scalar" ? field.scalar : ScalarType.INT32, undefined, undefined).map(
            (write) => encode(2, write),
          );
    const entry = fc
      .tuple(this.#scalar(field.mapKey, rule, mapKeys), value)
      .map(([key, bytes]) => delimited(field.number, Buffer.concat([encode(1, key), bytes])));
    return fc
      .oneof(
        { arbitrary: fc.array(entry, { maxLength: 4 }), weight: 60 },
        { arbitrary: fc.array(entry, { minLength: 40, maxLength: 300 }), weight: 1 },
      )
      .map((entries) => Buffer.concat(entries));
  }

  #scalar(type: ScalarType, rule: FieldRule | undefined, likely: readonly string[] | undefined): fc.Arbitrary<Written> {
    switch (type) {
      case ScalarType.STRING:
        return text(rule, likely).map((value) => ({
          wireType: WireType.LengthDelimited,
          write: (writer) => writer.string(value),
        }));
      case ScalarType.BYTES:
        return fc.uint8Array({ maxLength: 64 }).map((value) => ({
          wireType: WireType.LengthDelimited,
          write: (writer) => writer.bytes(value),
        }));
      case ScalarType.BOOL:
        return fc.boolean().map((value) => ({ wireType: WireType.Varint, write: (writer) => writer.bool(value) }));
      case ScalarType.DOUBLE:
        return fc.double().map((value) => ({ wireType: WireType.Bit64, write: (writer) => writer.double(value) }));
      case ScalarType.INT64:
      case ScalarType.UINT64:
        return fc
          .oneof(
            { arbitrary: fc.constantFrom(...(likely ?? ["0", "1", "100000"]).map(BigInt)), weight: 60 },
            { arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), weight: 1 },
          )
          .map((value) => ({ wireType: WireType.Varint, write: (writer) => writer.int64(value) }));
      case ScalarType.INT32:
      case ScalarType.UINT32:
        return wholeNumber(rule, likely?.map(Number)).map((value) => ({
          wireType: WireType.Varint,
          write: (writer) => writer.int32(value),
        }));
      default:
        throw new TypeError(`the contract has had no fields of type ${ScalarType[type]}; say here how they are made`);
    }
  }

  #likelyTexts(field: DescField): readonly string[] | undefined {
    return this.#likely[`${field.parent.typeName}.${field.name}`];
  }
}

/** A value and how it travels. */
interface Written {
  readonly wireType: WireType;
  readonly write: (writer: BinaryWriter) => BinaryWriter;
}

const nothing = Buffer.alloc(0);

const encode = (fieldNumber: number, { wireType, write }: Written): Uint8Array =>
  write(new BinaryWriter().tag(fieldNumber, wireType)).finish();

const delimited = (fieldNumber: number, bytes: Uint8Array): Uint8Array =>
  encode(fieldNumber, { wireType: WireType.LengthDelimited, write: (writer) => writer.bytes(bytes) });

const unknownField = fc
  .tuple(fc.integer({ min: 15_000, max: 536_870_911 }), fc.uint8Array({ maxLength: 40 }))
  .map(([fieldNumber, bytes]) => delimited(fieldNumber, bytes));

/** Enums are open: any number may come. */
const enumNumber = ({ values }: DescEnum, rule: FieldRule | undefined): fc.Arbitrary<number> =>
  fc.oneof(
    {
      arbitrary: fc.constantFrom(
        ...values.map(({ number }) => number).filter((number) => number !== 0 || !rule?.required),
      ),
      weight: 100,
    },
    { arbitrary: fc.constantFrom(0, -1, 77, 2_147_483_647, -2_147_483_648), weight: 1 },
  );

const wholeNumber = (rule: FieldRule | undefined, likely: readonly number[] | undefined): fc.Arbitrary<number> => {
  const { min = 0, max = 1_000 } = rule ?? {};
  return fc.oneof(
    // Small ones are not to be likelier: two ports must not be the same each time.
    {
      arbitrary: likely
        ? fc.constantFrom(...likely)
        : fc.noBias(fc.integer({ min, max: Math.min(max, 2_147_483_647) })),
      weight: 60,
    },
    {
      arbitrary: fc.constantFrom(min - 1, max + 1, 0, 2_147_483_647, -2_147_483_648).map((value) => value | 0),
      weight: 1,
    },
  );
};

const mapKeys = ["a", "acme.example.com/size", "acme.example.com/on", "__proto__", "constructor", "toString"];

const byFormat: Readonly<Record<NonNullable<FieldRule["format"]>, readonly string[]>> = {
  IP: ["10.0.0.1", "fd00::1", "::ffff:10.0.0.1"],
  CIDR: ["10.0.0.0/24", "10.1.0.0/16", "fd00::/64", "0.0.0.0/0", "::/0"],
  DNS_NAME: ["acme.example.com", "a"],
  PROVIDER_ID: ["acme://i-1", "acme://i-2", "acme://x", "other://i-1"],
};

const text = (rule: FieldRule | undefined, likely: readonly string[] | undefined): fc.Arbitrary<string> => {
  const good = likely ?? (rule?.format ? byFormat[rule.format] : ["a", "web", "n1", "acme://i-1", "acme", "true"]);
  const limit = rule?.maxBytes ?? 1_000;
  return fc.oneof(
    { arbitrary: fc.constantFrom(...good), weight: 150 },
    { arbitrary: fc.string({ unit: "binary", maxLength: 40 }), weight: 1 },
    { arbitrary: fc.constantFrom(limit, limit + 1, 20_000, 300_000).map((length) => "x".repeat(length)), weight: 1 },
    {
      arbitrary: fc.constantFrom("", "\0", "é".repeat(limit), "\u202e", "../../etc/passwd", "%s%n", "acme://"),
      weight: 1,
    },
  );
};
