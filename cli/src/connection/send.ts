import type { Agent, IncomingMessage, RequestOptions } from "node:http";
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";

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
export function send({
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
    (incoming) => {
      clearTimeout(timer);
      resolve(incoming);
    },
  );
  const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  outgoing.once("error", (error) => {
    clearTimeout(timer);
    reject(error);
  });
  outgoing.end(body);
  return promise;
}

/** The whole text of an answer. Rejects when it is longer than any that is asked for here. */
export async function textOf(incoming: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > mostBytes) {
      incoming.destroy();
      throw new Error(`the answer is longer than ${mostBytes / 1e6} MB`);
    }
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString("utf8");
}
