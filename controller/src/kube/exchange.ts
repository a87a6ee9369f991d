import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";

/** Ends a request, or the reading of its answer, for that reason. */
export type EndExchange = (reason: unknown) => void;

export interface ExchangeOptions {
  readonly request: RequestOptions;
  readonly body: string | undefined;
  /** Ends the exchange, the reading of the answer included. */
  readonly signal: AbortSignal;
  /** All under way, this one too until its answer was read to the end. */
  readonly running: Set<EndExchange>;
}

/** Sends a request and makes of the answer, once it has begun, what `read` does. */
export function exchange<T>(
  { request: options, body, signal, running }: ExchangeOptions,
  read: (answer: IncomingMessage) => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request: ClientRequest = httpRequest(options);
    let answer: IncomingMessage | undefined;
    const release = (): void => {
      signal.removeEventListener("abort", onAbort);
      running.delete(end);
    };
    const end: EndExchange = (reason) => {
      release();
      // Told at once: a request that waits for a connection tells nothing before it would have its turn.
      reject(asError(reason));
      (answer ?? request).destroy(asError(reason));
    };
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    running.add(end);
    // There may be more than one.
    request.on("error", reject);
    request.once("close", () => {
      release();
      if (answer === undefined) reject(new Error("the connection was closed before an answer"));
    });
    request.once("response", (message) => {
      answer = message;
      resolve(read(message));
    });
    request.end(body);
  });
}

/** The whole body. Without the stream's iteration, which is a large part of what a call of some kilobytes costs. */
export function wholeBody(answer: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    answer.on("data", (part: Buffer) => void parts.push(part));
    answer.once("error", reject);
    answer.once("end", () => {
      const [first = Buffer.alloc(0)] = parts;
      resolve(parts.length <= 1 ? first : Buffer.concat(parts));
    });
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
