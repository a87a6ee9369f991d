import { type Socket, connect, isIP } from "node:net";
import { TLSSocket, connect as connectTls } from "node:tls";
import { errorText } from "../errors.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import type { TlsClient } from "./tls.ts";

/** What a gRPC client and server agree on during the handshake (RFC 7301). */
const http2 = "h2";
/** Without this OpenSSL itself refuses what is older than TLS 1.2, and nothing is learned of the server. */
const oldVersionCiphers = "ALL:@SECLEVEL=0";

/** Opens a connection to an endpoint; on TLS it is of use after `secureConnect`, else after `connect`. */
export const openSocket = (endpoint: Endpoint): Socket => {
  if (endpoint.kind === "unix") return connect(endpoint.path);
  const { host, port, tls } = endpoint;
  return tls === undefined ? connect(port, host) : openTls(host, port, tls);
};

/** The event with which a socket of {@link openSocket} is of use. */
export const readyEvent = (endpoint: Endpoint): "connect" | "secureConnect" =>
  endpoint.kind === "tcp" && endpoint.tls !== undefined ? "secureConnect" : "connect";

const openTls = (host: string, port: number, tls: TlsClient): TLSSocket => {
  const { ca, cert, key, versions } = tls;
  const name = tls.serverName ?? host;
  const socket = connectTls({
    host,
    port,
    ALPNProtocols: [http2],
    // An address is no server name of TLS (RFC 6066); the certificate is checked against it anyway.
    servername: isIP(name) === 0 ? name : "",
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(versions !== undefined && {
      minVersion: versions.min,
      maxVersion: versions.max,
      ciphers: oldVersionCiphers,
    }),
  });
  socket.once("secureConnect", () => {
    const agreed = socket.alpnProtocol;
    if (agreed === http2) return;
    const spoken = agreed === false || agreed === null ? "nothing" : `"${agreed}"`;
    socket.destroy(new AlpnError(`the server agreed to ${spoken}, and gRPC needs "${http2}"`));
  });
  return socket;
};

class AlpnError extends Error {
  readonly code = "ALPN";
}

/** The step of opening a connection that failed. */
export interface SocketProblem {
  readonly step: "DNS" | "connect" | "TLS handshake" | "ALPN";
  /** One line that begins with the step. */
  readonly text: string;
}

/** Which step an error of a socket belongs to; undefined: the connection stood already. */
export const socketProblem = (endpoint: Endpoint, error: unknown): SocketProblem | undefined => {
  const { code, syscall, message } = factsOf(error);
  const at = (step: SocketProblem["step"], text: string): SocketProblem => ({ step, text: `${step}: ${text}` });
  const place = formatEndpoint(endpoint);
  if (syscall === "getaddrinfo" && endpoint.kind === "tcp")
    return at("DNS", `the name "${endpoint.host}" has no address (${code}); check it and the name server`);
  if (syscall === "connect") return { step: "connect", text: message };
  if (code === "ALPN") return at("ALPN", message);
  if (endpoint.kind === "unix" || endpoint.tls === undefined) return undefined;
  if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST|UNEXPECTED_MESSAGE)/.test(code))
    return at("TLS handshake", `${place} does not speak TLS (${code})`);
  if (/^ERR_SSL_.*ALERT/.test(code)) return at("TLS handshake", `${place} refuses the kit: ${alertText(code)}`);
  if (certificateCodes.test(code))
    return at(
      "TLS handshake",
      `the certificate of ${place} is not to be trusted: ${message} (${code}); see tls.ca and tls.serverName`,
    );
  if (/^ERR_(?:SSL|TLS)_/.test(code)) return at("TLS handshake", `${message} (${code})`);
  return message.includes("before secure TLS connection was established")
    ? at("TLS handshake", `${place} closed the connection in the middle of it`)
    : undefined;
};

/** Node's codes for what OpenSSL finds wrong with a chain (X509_V_ERR_*, without prefix). */
const certificateCodes =
  /CERT|SELF_SIGNED|UNABLE_TO_|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE|HOSTNAME_MISMATCH/;

const alertText = (code: string): string =>
  code
    .replace(/^ERR_SSL_(?:TLSV\d+_|SSLV3_|SSL\/?TLS_)?ALERT_/, "alert ")
    .replace(/_/g, " ")
    .toLowerCase();

/** An error of Node's; where several addresses were tried, the first one's. */
const factsOf = (error: unknown): { readonly code: string; readonly syscall: string; readonly message: string } => {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return { code: "", syscall: "", message: String(first) };
  const text = (key: "code" | "syscall"): string => {
    const value: unknown = Reflect.get(first, key);
    return typeof value === "string" ? value : "";
  };
  const message = error instanceof AggregateError ? error.errors.map(errorText).join("; ") : first.message;
  return { code: text("code"), syscall: text("syscall"), message };
};

/** How a TLS handshake ended. */
export type Handshake =
  | { readonly kind: "done"; readonly version: string; readonly fingerprint: string }
  | { readonly kind: "refused"; readonly why: string }
  /** Not sent at all: this machine cannot speak what is asked for. */
  | { readonly kind: "unable"; readonly why: string };

/** Shakes hands, and hangs up. */
export const shakeTls = (endpoint: Endpoint, timeoutMs: number): Promise<Handshake> =>
  new Promise((resolve) => {
    const socket = openSocket(endpoint);
    const finish = (handshake: Handshake): void => {
      clearTimeout(timer);
      resolve(handshake);
      socket.destroy();
    };
    const timer = setTimeout(
      () => finish({ kind: "refused", why: `TLS handshake: it is not finished within ${timeoutMs} ms` }),
      timeoutMs,
    );
    socket.once("secureConnect", () => {
      if (!(socket instanceof TLSSocket)) return;
      const { fingerprint256 } = socket.getPeerCertificate();
      finish({ kind: "done", version: socket.getProtocol() ?? "an unknown version", fingerprint: fingerprint256 });
    });
    socket.once("error", (error) => {
      const why = socketProblem(endpoint, error)?.text ?? errorText(error);
      finish(/NO_PROTOCOLS_AVAILABLE|NO_CIPHERS/.test(why) ? { kind: "unable", why } : { kind: "refused", why });
    });
    socket.once("close", () => finish({ kind: "refused", why: "TLS handshake: the connection was closed" }));
  });
