import { type Agent, type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Readable } from "node:stream";

export interface Request {
  readonly url: URL;
  readonly method: "GET" | "POST" | "PATCH";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For tls.connect and the agent. */
  readonly options: RequestOptions;
  /** Makes its own connections, with TLS if required. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal | undefined;
  /** Timeout for the start of the response. */
  readonly timeoutMs: number;
}

/** Resolves with the headers of the response. Rejects with errors of Node. */
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
      // HTTP for Node: the agent's connections are encrypted already.
      ...(agent === undefined ? {} : { agent, protocol: "http:" }),
      ...(signal === undefined ? {} : { signal }),
    },
    resolve,
  );
  outgoing.on("error", reject);
  // Node emits no error if a request is destroyed before it is connected.
  const giveUp = (error: Error): void => {
    reject(error);
    outgoing.destroy(error);
  };
  const timer = setTimeout(() => giveUp(new Error(`no response within ${timeoutMs / 1000} s`)), timeoutMs);
  const aborted = (): void => giveUp(new Error("the request was canceled"));
  signal?.addEventListener("abort", aborted, { once: true });
  outgoing.end(body);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}

/** Reads a response. Rejects if it is longer than `maxBytes` or pauses for `stallMs`. */
export async function textOf(incoming: Readable, maxBytes: number, stallMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => incoming.destroy(new Error(`the response stalled for ${stallMs / 1000} s`)), stallMs);
  try {
    for await (const chunk of incoming) {
      timer.refresh();
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > maxBytes) throw new Error(`the response is longer than ${maxBytes / 1e6} MB`);
      chunks.push(part);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Error codes of Node for certificates that cannot be verified. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Why the peer's certificate is not trusted, without Node's own advice; undefined: another error. */
export function certificateProblem(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !UNTRUSTED.has(error.code)) return undefined;
  return error.message.split("; if the root CA", 1)[0];
}
