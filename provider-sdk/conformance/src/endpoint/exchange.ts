import { type Endpoint, hostAndPort } from "./endpoint.ts";
import { codeName } from "./status.ts";
import type { Outcome } from "./outcome.ts";

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
  readonly answer: string;
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
