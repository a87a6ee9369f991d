import { createFileRegistry, type DescField, type DescMessage, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@cloudwire/proto/descriptor-set";
import { serviceName } from "../contract/methods.ts";

type Random = () => number;

const maxItems = 3;
const maxDepth = 6;
const setShare = 0.7;

/** Makes answers of the contract's methods whose fields hold anything that their types allow: bytes by the path of the call. */
export const randomResponses = (random: Random): ((path: string) => Uint8Array | undefined) => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));
  const methods = registry.getService(serviceName)?.methods ?? [];
  const outputs = new Map(methods.map(({ name, output }) => [`/${serviceName}/${name}`, output]));
  return (path) => {
    const output = outputs.get(path);
    return output && randomMessage(output, random, 0);
  };
};

const randomMessage = (message: DescMessage, random: Random, depth: number): Uint8Array => {
  const writer = new BinaryWriter();
  for (const field of message.fields) {
    if (random() > setShare) continue;
    const isMany = field.fieldKind === "list" || field.fieldKind === "map";
    const count = isMany ? Math.floor(random() * (maxItems + 1)) : 1;
    for (let index = 0; index < count; index++) writeOne(writer, field, random, depth);
  }
  return writer.finish();
};

const writeOne = (writer: BinaryWriter, field: DescField, random: Random, depth: number): void => {
  if (field.fieldKind === "map") return writeEntry(writer, field.number, random);
  if (field.message !== undefined) {
    if (depth < maxDepth)
      writer.tag(field.number, WireType.LengthDelimited).bytes(randomMessage(field.message, random, depth + 1));
  } else if (field.enum !== undefined) {
    const value = field.enum.values[Math.floor(random() * field.enum.values.length)]?.number ?? 0;
    writer.tag(field.number, WireType.Varint).int32(value);
  } else if (field.scalar !== undefined) writeScalar(writer, field.number, field.scalar, random);
};

/** The contract's maps are of texts. */
const writeEntry = (writer: BinaryWriter, number: number, random: Random): void => {
  writer.tag(number, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(text(random));
  writer.tag(2, WireType.LengthDelimited).string(text(random));
  writer.join();
};

const writeScalar = (writer: BinaryWriter, number: number, scalar: ScalarType, random: Random): void => {
  switch (scalar) {
    case ScalarType.STRING:
      return void writer.tag(number, WireType.LengthDelimited).string(text(random));
    case ScalarType.BYTES:
      return void writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(text(random)));
    case ScalarType.BOOL:
      return void writer.tag(number, WireType.Varint).bool(random() < 0.5);
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return void writer.tag(number, WireType.Varint).int64(BigInt(Math.floor(random() * 1e15)));
    case ScalarType.DOUBLE:
      return void writer.tag(number, WireType.Bit64).double(random());
    case ScalarType.FLOAT:
      return void writer.tag(number, WireType.Bit32).float(random());
    default:
      return void writer.tag(number, WireType.Varint).int32(Math.floor(random() * 2 ** 31));
  }
};

const words = [
  "",
  "a",
  "192.0.2.1",
  "acme://m-1",
  "node-1",
  "10.0.0.0/8",
  "é🙂",
  "x".repeat(300),
  "kubernetes.io/hostname",
];

const text = (random: Random): string => words[Math.floor(random() * words.length)] ?? "";
