import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";

/** Where an API server is and how to be its administrator. */
export interface Endpoint {
  readonly url: string;
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

export interface RequestOptions {
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Asks as the user of this token instead of as the administrator. */
  readonly token?: string;
}

export interface Answer {
  readonly status: number;
  /** Parsed when it is JSON, bytes when it is protobuf, text otherwise. */
  readonly body: unknown;
  readonly contentType: string;
  /** Texts of Warning headers. */
  readonly warnings: readonly string[];
}

export interface OpenWatch {
  /** Events so far, in order. */
  readonly events: readonly unknown[];
  /** Set once the server has ended the stream. */
  readonly ended: () => boolean;
  readonly close: () => void;
}

const timeoutMs = 20_000;

/** Sends one request and reads the whole answer. */
export async function send(
  endpoint: Endpoint,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const response = await open(endpoint, method, path, options);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  const contentType = response.headers["content-type"] ?? "";
  return {
    status: response.statusCode ?? 0,
    body: parse(Buffer.concat(chunks), contentType),
    contentType,
    warnings: warningsOf(response),
  };
}

/** Opens a watch; an answer instead of a stream means that the server refused it. */
export async function openWatch(
  endpoint: Endpoint,
  path: string,
  options: RequestOptions = {},
): Promise<
  { readonly kind: "open"; readonly watch: OpenWatch } | { readonly kind: "refused"; readonly answer: Answer }
> {
  const response = await open(endpoint, "GET", path, options);
  if (response.statusCode !== 200) return { kind: "refused", answer: await readRefusal(response) };
  const events: unknown[] = [];
  let ended = false;
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) events.push(JSON.parse(line));
  });
  response.on("end", () => {
    ended = true;
  });
  // Closing the watch resets the connection, which is no failure of the test.
  response.on("error", () => undefined);
  return { kind: "open", watch: { events, ended: () => ended, close: () => response.destroy() } };
}

async function readRefusal(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  const contentType = response.headers["content-type"] ?? "";
  const body = parse(Buffer.concat(chunks), contentType);
  return { status: response.statusCode ?? 0, body, contentType, warnings: warningsOf(response) };
}

async function open(
  endpoint: Endpoint,
  method: string,
  path: string,
  { body, contentType, accept, token }: RequestOptions,
): Promise<IncomingMessage> {
  const url = new URL(path, endpoint.url);
  const payload = toPayload(body);
  const headers = {
    Accept: accept ?? "application/json",
    "User-Agent": "differential",
    ...(payload === undefined
      ? {}
      : { "Content-Type": contentType ?? "application/json", "Content-Length": `${payload.length}` }),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const identity = endpoint.tls === undefined ? {} : identityOf(endpoint.tls, token);
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const start = endpoint.tls === undefined ? plainRequest : secureRequest;
    // No keep-alive: a connection carries the client certificate of who opened it.
    const request = start(
      url,
      { method, headers, agent: false, ...identity, signal: AbortSignal.timeout(timeoutMs) },
      resolve,
    );
    request.on("error", reject);
    request.end(payload);
  });
}

function identityOf(
  tls: NonNullable<Endpoint["tls"]>,
  token: string | undefined,
): { ca: string; cert?: string; key?: string } {
  return token === undefined ? tls : { ca: tls.ca };
}

function toPayload(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function parse(bytes: Buffer, contentType: string): unknown {
  if (contentType.startsWith("application/vnd.kubernetes.protobuf")) return bytes;
  const text = bytes.toString();
  return contentType.startsWith("application/json") && text !== "" ? JSON.parse(text) : text;
}

function warningsOf(response: IncomingMessage): readonly string[] {
  return (response.headersDistinct["warning"] ?? []).map((header) => header.replace(/^299 - /, ""));
}
