import { readFileSync } from "node:fs";

/**
 * The serialised `google.protobuf.FileDescriptorSet` of the contract and everything it imports, for server reflection,
 * conformance checks and tools. Read when called: a few hundred kilobytes that most callers never need.
 */
export const readDescriptorSet = (): Uint8Array =>
  readFileSync(new URL("../gen/descriptor-set.binpb", import.meta.url));
