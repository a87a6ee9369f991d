import type { Writable } from "node:stream";
import { ProviderError } from "../../results/errors.ts";
import { orAborted } from "../../util/clock.ts";

/**
 * Writes what an iterable yields to a stream, no faster than the peer reads: ignoring `write() === false` buffers without
 * bound. Ends when the iterable ends, throws when it throws, when the signal is aborted, or when the peer does not read.
 */
export const pump = async (
  open: () => AsyncIterable<Uint8Array>,
  stream: Writable,
  signal: AbortSignal,
  slowConsumerMs: number,
): Promise<void> => {
  const iterator = open()[Symbol.asyncIterator]();
  try {
    while (true) {
      const next = await orAborted(iterator.next(), signal);
      if (next.done) return;
      if (!stream.write(asBuffer(next.value))) await drained(stream, signal, slowConsumerMs);
    }
  } finally {
    // A generator inside an await ends only after it. It has the signal, so do not wait for it here.
    iterator.return?.().then(undefined, () => undefined);
  }
};

const drained = (stream: Writable, signal: AbortSignal, slowConsumerMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (finish: () => void) => () => {
      clearTimeout(timer);
      stream.off("drain", onDrain);
      signal.removeEventListener("abort", onAbort);
      finish();
    };
    const onDrain = settle(resolve);
    const onAbort = settle(() => reject(signal.reason));
    const onSlow = settle(() =>
      reject(new ProviderError("SLOW_CONSUMER", `The reader of the stream took nothing for ${slowConsumerMs} ms`)),
    );
    const timer = setTimeout(onSlow, slowConsumerMs);
    stream.once("drain", onDrain);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });

/** The same memory as the class that grpc-js requires: responses are large, and no other code has a reference. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
