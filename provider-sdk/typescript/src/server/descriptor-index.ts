import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** One .proto file, as bytes that travel unchanged. */
export interface DescribedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly dependencies: readonly string[];
}

/** Finds .proto files by what they declare. */
export interface DescriptorIndex {
  readonly byName: (fileName: string) => DescribedFile | undefined;
  /** By full name of a message, enum, service, method, field, enum value or extension. */
  readonly bySymbol: (fullName: string) => DescribedFile | undefined;
  readonly byExtension: (typeName: string, fieldNumber: number) => DescribedFile | undefined;
  /** Numbers of all extensions of a message; undefined for no known message. */
  readonly extensionNumbers: (typeName: string) => readonly number[] | undefined;
  /** The file and everything it imports, directly or not, each once, the file first. */
  readonly closure: (file: DescribedFile) => readonly DescribedFile[];
}

/** Reads a serialized FileDescriptorSet. */
export const indexDescriptors = (fileDescriptorSet: Uint8Array): DescriptorIndex => {
  const files = new Map<string, DescribedFile>();
  const symbols = new Map<string, DescribedFile>();
  const messages = new Set<string>();
  const extensions = new Map<string, Map<number, DescribedFile>>();
  for (const bytes of readFiles(fileDescriptorSet)) {
    const proto = fromBinary(FileDescriptorProtoSchema, bytes);
    const file = { name: proto.name, bytes, dependencies: proto.dependency };
    files.set(proto.name, file);
    const found = declaredIn(proto);
    for (const symbol of found.symbols) symbols.set(symbol, file);
    for (const message of found.messages) messages.add(message);
    for (const { extendee, number } of found.extensions) {
      const numbers = extensions.get(extendee) ?? new Map<number, DescribedFile>();
      extensions.set(extendee, numbers.set(number, file));
    }
  }
  return {
    byName: (fileName) => files.get(fileName),
    bySymbol: (fullName) => symbols.get(fullName),
    byExtension: (typeName, fieldNumber) => extensions.get(typeName)?.get(fieldNumber),
    extensionNumbers: (typeName) =>
      messages.has(typeName) ? [...(extensions.get(typeName)?.keys() ?? [])].toSorted((a, b) => a - b) : undefined,
    closure: (file) => closureOf(file, files),
  };
};

const fileField = 1;

function* readFiles(fileDescriptorSet: Uint8Array): Generator<Uint8Array> {
  const reader = new BinaryReader(fileDescriptorSet);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === fileField) yield reader.bytes();
    else reader.skip(wireType);
  }
}

const closureOf = (file: DescribedFile, files: ReadonlyMap<string, DescribedFile>): readonly DescribedFile[] => {
  // A set is walked in the order in which it grows.
  const reached = new Set([file]);
  for (const { dependencies } of reached)
    for (const name of dependencies) {
      const dependency = files.get(name);
      if (dependency) reached.add(dependency);
    }
  return [...reached];
};

interface Declared {
  readonly symbols: string[];
  readonly messages: string[];
  readonly extensions: { readonly extendee: string; readonly number: number }[];
}

const declaredIn = (file: FileDescriptorProto): Declared => {
  const out: Declared = { symbols: [], messages: [], extensions: [] };
  const scope = file.package;
  for (const message of file.messageType) addMessage(message, scope, out);
  for (const type of file.enumType) addEnum(type, scope, out);
  for (const extension of file.extension) addExtension(extension, scope, out);
  for (const service of file.service) {
    const name = join(scope, service.name);
    out.symbols.push(name, ...service.method.map((method) => join(name, method.name)));
  }
  return out;
};

const join = (scope: string, name: string): string => (scope === "" ? name : `${scope}.${name}`);

const addMessage = (message: DescriptorProto, scope: string, out: Declared): void => {
  const name = join(scope, message.name);
  out.messages.push(name);
  out.symbols.push(name, ...message.field.map((field) => join(name, field.name)));
  out.symbols.push(...message.oneofDecl.map((oneof) => join(name, oneof.name)));
  for (const nested of message.nestedType) addMessage(nested, name, out);
  for (const type of message.enumType) addEnum(type, name, out);
  for (const extension of message.extension) addExtension(extension, name, out);
};

/** Values of an enum are named beside it, not in it. */
const addEnum = (type: EnumDescriptorProto, scope: string, out: Declared): void => {
  out.symbols.push(join(scope, type.name), ...type.value.map((value) => join(scope, value.name)));
};

const addExtension = (extension: FieldDescriptorProto, scope: string, out: Declared): void => {
  out.symbols.push(join(scope, extension.name));
  out.extensions.push({ extendee: extension.extendee.replace(/^\./, ""), number: extension.number });
};
