/** Cuts a byte stream into frames. Keeps only the unfinished rest, joined once when a frame spans chunks. */
export interface FrameReader {
  /** The frames that `chunk` completes. They may be views into `chunk`. */
  push(chunk: Uint8Array): readonly Uint8Array[];
}

/** A frame larger than this is no object of a Kubernetes API (etcd refuses requests over 1.5 MiB; 3 MiB is the usual body limit). */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/** JSON watch: one object a line. */
export function lineReader(): FrameReader {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  return {
    push: (chunk) => {
      const frames: Uint8Array[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const line = join(pending, chunk.subarray(start, end));
        pending = [];
        pendingBytes = 0;
        if (line.length > 0) frames.push(line);
        start = end + 1;
      }
      if (start < chunk.length) {
        pending.push(chunk.subarray(start));
        pendingBytes = limit(pendingBytes + chunk.length - start);
      }
      return frames;
    },
  };
}

/** Protobuf watch: 4 bytes of length, big-endian, then the frame. apimachinery/pkg/util/framer/framer.go v0.36.3. */
export function lengthPrefixReader(): FrameReader {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let neededBytes = 4;
  return {
    push: (chunk) => {
      pending.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes < neededBytes) return [];
      const bytes = pending.length === 1 ? chunk : Buffer.concat(pending);
      const frames: Uint8Array[] = [];
      let start = 0;
      for (;;) {
        if (bytes.length - start < 4) {
          neededBytes = 4;
          break;
        }
        const length = limit(new DataView(bytes.buffer, bytes.byteOffset + start, 4).getUint32(0));
        neededBytes = 4 + length;
        if (bytes.length - start < neededBytes) break;
        frames.push(bytes.subarray(start + 4, start + neededBytes));
        start += neededBytes;
      }
      pending = start < bytes.length ? [bytes.subarray(start)] : [];
      pendingBytes = bytes.length - start;
      return frames;
    },
  };
}

function limit(bytes: number): number {
  if (bytes > MAX_FRAME_BYTES) throw new RangeError(`watch frame of ${bytes} bytes: the stream is out of step`);
  return bytes;
}

function join(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  return parts.length === 0 ? last : Buffer.concat([...parts, last]);
}
