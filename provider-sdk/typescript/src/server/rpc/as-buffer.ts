/** The same memory in the class that grpc-js asks for: answers are large, and nobody else has them. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
