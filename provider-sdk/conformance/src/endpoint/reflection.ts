import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { readDescriptorSet } from "@cloudwire/proto/descriptor-set";
import {
  ServerReflectionDefinition,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "@cloudwire/proto/grpc/reflection/v1/reflection";
import type { Called, Caller } from "./caller.ts";

type Question = ServerReflectionRequest["messageRequest"];

/** Asks the server about itself: one question, one answer. */
export const reflect = (caller: Caller, messageRequest: Question): Promise<Called<ServerReflectionResponse>> =>
  caller.call(
    ServerReflectionDefinition.methods.serverReflectionInfo,
    { host: "", messageRequest },
    { service: ServerReflectionDefinition.fullName, deadlineMs: 5_000 },
  );

/** Reads a serialized descriptor of a .proto file. */
export const parseFile = (bytes: Uint8Array): FileDescriptorProto => fromBinary(FileDescriptorProtoSchema, bytes);

/** The contract's own files. */
export const contractFiles = (): readonly FileDescriptorProto[] =>
  fromBinary(FileDescriptorSetSchema, readDescriptorSet()).file.filter((file) => file.package === "cloudprovider.v1");

/**
 * Where another edition of a file would misread messages of ours: a field number with another type, a field name with another number. What one of
 * them lacks is no difference: minors only add.
 */
export const wireDifferences = (ours: FileDescriptorProto, theirs: FileDescriptorProto): readonly string[] =>
  ours.messageType.flatMap((message) => {
    const other = theirs.messageType.find(({ name }) => name === message.name);
    return other === undefined ? [] : messageDifferences(message, other);
  });

const messageDifferences = (ours: DescriptorProto, theirs: DescriptorProto): readonly string[] =>
  ours.field.flatMap((field) => {
    const where = `${ours.name}.${field.name}`;
    const named = theirs.field.find(({ name }) => name === field.name);
    if (named !== undefined && named.number !== field.number)
      return [`${where} has number ${named.number}, not ${field.number}`];
    const numbered = theirs.field.find(({ number }) => number === field.number);
    if (numbered === undefined) return [];
    const same = numbered.type === field.type && numbered.label === field.label && numbered.typeName === field.typeName;
    return same ? [] : [`${where} has another type`];
  });

/** A file in which a field has another number: for a provider that has a contract of its own. */
export const editField = (bytes: Uint8Array, message: string, field: string, number: number): Buffer => {
  const file = parseFile(bytes);
  const found = file.messageType.find(({ name }) => name === message)?.field.find(({ name }) => name === field);
  if (found !== undefined) found.number = number;
  return Buffer.from(toBinary(FileDescriptorProtoSchema, file));
};
