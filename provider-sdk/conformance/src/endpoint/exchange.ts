import { codeNames } from "@cloudwire/proto/codes";
import { errorText } from "../errors.ts";
import { type WireResponse, maxResponseBytes } from "./connection.ts";
import { type Endpoint, hostAndPort } from "./endpoint.ts";
import { cutFrames } from "./frames.ts";
import { type WireError, codeName, headerText, parseError } from "./status.ts";

/** One call as it was made and answered: what a report shows and a person repeats. */
export interface Exchange {
  readonly path: string;
  /** The request as JSON; undefined: the bytes were not a message of the contract. */
  readonly request?: unknown;
  readonly requestBytes: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  readonly elapsedMs: number;
  /** `OK`, `INVALID_ARGUMENT FIELD_MISSING: …` or why there was no answer. */
  readonly response: string;
}

/** One line that says how a call ended. */
export const outcomeLine = (outcome: Outcome<unknown>): string => {
  switch (outcome.kind) {
    case "ok":
      return "OK";
    case "broken":
      return outcome.broken;
    case "error": {
      const { code, message, infos } = outcome.error;
      return `${codeName(code)} ${infos[0]?.reason ?? "without ErrorInfo"}: ${shorten(message, 300)}`;
    }
  }
  return outcome satisfies never;
};

/** Cuts a text that is too long to be read. */
export const shorten = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`;

/** The command with which a person repeats a call. A request with huge fields is not repeated by hand. */
export const grpcurlLine = (exchange: Exchange, endpoint: Endpoint): string | undefined => {
  if (exchange.request === undefined) return undefined;
  const data = JSON.stringify(exchange.request);
  if (data.length > 4_000) return undefined;
  const target = endpoint.kind === "unix" ? `-unix ${quote(endpoint.path)}` : hostAndPort(endpoint);
  const headers = Object.entries(exchange.headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)} `);
  const maxTime = exchange.deadlineMs === undefined ? "" : `-max-time ${Math.ceil(exchange.deadlineMs / 1_000)} `;
  return `grpcurl ${securityOptions(endpoint)} ${headers.join("")}${maxTime}-d ${quote(data)} ${target} ${exchange.path.slice(1)}`;
};

const securityOptions = (endpoint: Endpoint): string => {
  if (endpoint.kind === "unix" || endpoint.tls === undefined) return "-plaintext";
  const { ca, cert, key, serverName } = endpoint.tls.files;
  const given = { cacert: ca, cert, key, servername: serverName };
  return Object.entries(given)
    .flatMap(([name, value]) => (value === undefined ? [] : [`-${name} ${quote(value)}`]))
    .join(" ");
};

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** How a call ended. */
export type Outcome<Response> =
  | { readonly kind: "ok"; readonly response: Response; readonly bytes: Buffer; readonly wire: WireResponse }
  | { readonly kind: "error"; readonly error: WireError; readonly wire: WireResponse }
  /** There is no answer that gRPC would know. */
  | { readonly kind: "broken"; readonly broken: string; readonly wire: WireResponse };

/** Reads how a stream of answers ended; its messages were read before. */
export const toEnd = (wire: WireResponse): Outcome<undefined> => {
  const broken = (why: string): Outcome<undefined> => ({ kind: "broken", broken: why, wire });
  if (wire.broken !== undefined) return broken(wire.broken);
  const status = headerText(wire.trailers, "grpc-status") ?? "";
  const code = /^\d{1,2}$/.test(status) ? Number(status) : Number.NaN;
  if (codeNames[code] === undefined) return broken(`grpc-status is "${status}", which is no code of gRPC`);
  if (code !== 0) return { kind: "error", error: parseError(code, wire.trailers), wire };
  return { kind: "ok", response: undefined, bytes: wire.body, wire };
};

/** Reads a unary answer. */
export const toOutcome = <Response>(wire: WireResponse, decode: (bytes: Uint8Array) => Response): Outcome<Response> => {
  const broken = (why: string): Outcome<Response> => ({ kind: "broken", broken: why, wire });
  const end = toEnd(wire);
  if (end.kind !== "ok") return end;
  const { messages, rest, problem } = cutFrames(wire.body, maxResponseBytes);
  const [bytes] = messages;
  if (problem !== undefined) return broken(`the body is not gRPC: ${problem}`);
  if (bytes === undefined || messages.length > 1 || rest.length > 0)
    return broken(`an OK answer holds exactly one message, not ${messages.length} and ${rest.length} bytes`);
  try {
    return { kind: "ok", response: decode(bytes), bytes, wire };
  } catch (cause) {
    return broken(`the answer is no valid protobuf message: ${errorText(cause)}`);
  }
};
