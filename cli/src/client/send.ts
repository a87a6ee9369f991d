import { type Agent, type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Readable } from "node:stream";

export interface Request {
  readonly url: URL;
  readonly method: "GET" | "POST" | "PATCH";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Of tls.connect, and of the agent. */
  readonly options: RequestOptions;
  /** Brings its own connections: what it hands out is TLS already where it is to be. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal | undefined;
  /** How long the answer may take to begin. */
  readonly timeoutMs: number;
}

/** Sends a request and answers when the head of the answer is there. Rejects as Node does. */
export async function send({
  url,
  method,
  headers,
  body,
  options,
  agent,
  signal,
  timeoutMs,
}: Request): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = agent === undefined && url.protocol === "https:" ? requestSecure : requestPlain;
  const outgoing = request(
    url,
    {
      ...options,
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }) },
      // Plain HTTP by its own lights: the agent's connections are encrypted below it.
      ...(agent === undefined ? {} : { agent, protocol: "http:" }),
      ...(signal === undefined ? {} : { signal }),
    },
    resolve,
  );
  outgoing.on("error", reject);
  // Of a request that has no connection yet Node says nothing when it is destroyed.
  const giveUp = (error: Error): void => {
    reject(error);
    outgoing.destroy(error);
  };
  const timer = setTimeout(() => giveUp(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  const aborted = (): void => giveUp(new Error("it was broken off"));
  signal?.addEventListener("abort", aborted, { once: true });
  outgoing.end(body);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}

/** The whole text of an answer. Rejects when it is longer than any that is asked for here, or does not go on for so long. */
export async function textOf(incoming: Readable, mostBytes: number, stallMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => incoming.destroy(new Error(`it did not go on within ${stallMs / 1000} s`)), stallMs);
  try {
    for await (const chunk of incoming) {
      timer.refresh();
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > mostBytes) throw new Error(`the answer is longer than ${mostBytes / 1e6} MB`);
      chunks.push(part);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Codes of Node's TLS for a certificate that cannot be verified. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Why the other side's certificate is not believed, without what Node advises of itself; undefined: that is not the matter. */
export function whyUntrusted(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !UNTRUSTED.has(error.code)) return undefined;
  return error.message.split("; if the root CA", 1)[0];
}
