import { existsSync, readFileSync } from "node:fs";

const FILE = "gen/descriptor-set.binpb";

/**
 * The serialized `google.protobuf.FileDescriptorSet` of the contract and everything it imports, for server reflection,
 * conformance checks and tools. Read when called: a few hundred kilobytes that most callers never need.
 */
export const readDescriptorSet = (): Uint8Array => {
  // From src. Bundlers recognize an address in this form and include the file.
  const fromSource = new URL("../gen/descriptor-set.binpb", import.meta.url);
  // Compiled, this module is in dist/src.
  const fromCompiled = new URL(`../../${FILE}`, import.meta.url);
  return readFileSync(existsSync(fromSource) ? fromSource : fromCompiled);
};
