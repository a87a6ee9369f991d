/** Bytes before each message of a gRPC body: a flag and a length. */
const prefixBytes = 5;

/** One message as it travels in a gRPC body. */
export const frame = (message: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(prefixBytes + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, prefixBytes);
  return bytes;
};

/** What a body came to when it is cut into messages. */
export interface CutBody {
  readonly messages: readonly Buffer[];
  /** Bytes that are not a whole message yet. */
  readonly rest: Buffer;
  /** Why it cannot be a gRPC body. */
  readonly problem?: string;
}

/** Cuts as many whole messages as there are off the front of a body. */
export const cutFrames = (body: Buffer, maxMessageBytes: number): CutBody => {
  const messages: Buffer[] = [];
  let at = 0;
  while (body.length - at >= prefixBytes) {
    const flag = body.readUInt8(at);
    const length = body.readUInt32BE(at + 1);
    if (flag !== 0)
      return { messages, rest: body.subarray(at), problem: `a message has flag ${flag}; compression was not offered` };
    if (length > maxMessageBytes)
      return { messages, rest: body.subarray(at), problem: `a message claims ${length} bytes` };
    if (body.length - at - prefixBytes < length) break;
    messages.push(body.subarray(at + prefixBytes, at + prefixBytes + length));
    at += prefixBytes + length;
  }
  return { messages, rest: body.subarray(at) };
};
