import { isIPv6 } from "node:net";
import { createSecureContext } from "node:tls";
import { type ChannelCredentials, type ChannelOptions, credentials } from "@grpc/grpc-js";
import { type Parsed, parseAddress, problem, value } from "../../options/flag.ts";
import { messageOf } from "../../util/errors.ts";
import { MAX_RESPONSE_BYTES } from "../convert/response.ts";
import { PemFileError, readAuthorities, readPemPair, requireUnexpired } from "../../util/pem-pair.ts";
import { withoutUserinfo } from "../../util/text.ts";

/** Largest request; raised for inline node lists. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

const COMMON_OPTIONS = {
  "grpc.max_receive_message_length": MAX_RESPONSE_BYTES,
  "grpc.max_send_message_length": MAX_REQUEST_BYTES,
  "grpc.enable_channelz": 0,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
} as const;

/**
 * The defaults of @grpc/grpc-js detect a restarted sidecar seconds late: with 1 s and 120 s, 3.5 s after an outage of 5 s. No keepalive:
 * the kernel reports immediately when the peer of a Unix socket is gone.
 */
const UNIX_OPTIONS = {
  ...COMMON_OPTIONS,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
  "grpc.default_authority": "localhost",
} as const;

/**
 * Reconnects less often to a host that is down, and resolves its name again as soon: the default of @grpc/grpc-js is 30 s, and a provider
 * that moved has a new address. Pings are no closer than servers must tolerate (proto/README.md TRN-5); status calls detect a dead peer
 * sooner.
 */
const TCP_OPTIONS = {
  ...COMMON_OPTIONS,
  "grpc.initial_reconnect_backoff_ms": 250,
  "grpc.max_reconnect_backoff_ms": 5000,
  "grpc.dns_min_time_between_resolutions_ms": 1000,
  "grpc.keepalive_time_ms": 330_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.keepalive_permit_without_calls": 1,
} as const;

export interface ChannelParts {
  readonly target: string;
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/** Without `material`: plaintext. `serverName` undefined: the host of the address. */
export function channelParts(
  address: ProviderAddress,
  material: TlsMaterial | undefined,
  serverName: string | undefined,
): ChannelParts {
  if (address.kind === "unix") {
    return { target: `unix://${address.path}`, credentials: credentials.createInsecure(), options: UNIX_OPTIONS };
  }
  const host = isIPv6(address.host) ? `[${address.host}]` : address.host;
  return {
    target: `dns:${host}:${address.port}`,
    credentials: material === undefined ? credentials.createInsecure() : secure(material),
    options: serverName === undefined ? TCP_OPTIONS : { ...TCP_OPTIONS, "grpc.ssl_target_name_override": serverName },
  };
}

function secure({ ca, key, cert }: TlsMaterial): ChannelCredentials {
  return credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert));
}

export type ProviderAddress =
  | { readonly kind: "unix"; readonly path: string }
  /** `host`: a DNS name or an IP address, IPv6 without brackets. */
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

/** sun_path of Linux holds 108 bytes, the last a NUL. */
const MAX_SOCKET_PATH_BYTES = 107;

/** Reads `unix:///absolute/path.sock` or `tcp://host:port`. */
export function parseProviderAddress(text: string): Parsed<ProviderAddress> {
  if (text.startsWith("unix://")) return parseUnix(text, text.slice("unix://".length));
  if (text.startsWith("tcp://")) return parseTcp(text, text.slice("tcp://".length));
  return problem(
    `"${withoutUserinfo(text)}" is not a provider address; write unix:///path/to/provider.sock or tcp://host:port`,
  );
}

function parseUnix(text: string, path: string): Parsed<ProviderAddress> {
  if (!path.startsWith("/"))
    return problem(
      `"${withoutUserinfo(text)}" has a relative path; write three slashes: unix:///path/to/provider.sock`,
    );
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    return problem(
      `the path of the socket has ${bytes} bytes; Unix sockets allow ${MAX_SOCKET_PATH_BYTES}: use a shorter path`,
    );
  }
  return value({ kind: "unix", path });
}

function parseTcp(text: string, rest: string): Parsed<ProviderAddress> {
  const address = parseAddress(rest);
  const isHost = address !== undefined && /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9.])?$|:/.test(address.host);
  if (!isHost || address.port === 0 || rest.startsWith(":")) {
    return problem(
      `"${withoutUserinfo(text)}" is not tcp://host:port; write tcp://provider.example.com:9443 or tcp://[2001:db8::1]:9443`,
    );
  }
  return value({ kind: "tcp", ...address });
}

/** TLS files for one provider at a tcp:// address. */
export interface ProviderTls {
  /** PEM of the CA certificates for the provider's certificate. */
  readonly caFile: string;
  /** PEM of this controller's certificate (leaf first) and key. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Name in the provider's certificate; undefined: the host of its address. */
  readonly serverName: string | undefined;
}

/** Contents of the TLS files, PEM. */
export interface TlsMaterial {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Expiration of our certificate. */
  readonly expiresAtMs: number;
}

/** Rejects with {@link PemFileError} when the files do not match or our certificate has expired. */
export async function readTlsFiles({ caFile, certFile, keyFile }: ProviderTls, nowMs: number): Promise<TlsMaterial> {
  const [ca, { certificate, key, leaf }] = await Promise.all([readAuthorities(caFile), readPemPair(certFile, keyFile)]);
  requireUnexpired(certFile, leaf, nowMs);
  try {
    createSecureContext({ ca });
  } catch (error) {
    throw new PemFileError(`${caFile} is unusable for TLS: ${messageOf(error)}`, { cause: error });
  }
  return { ca, cert: certificate, key, expiresAtMs: leaf.validToDate.getTime() };
}

export function isSameMaterial(left: TlsMaterial, right: TlsMaterial | undefined): boolean {
  return left.ca === right?.ca && left.cert === right.cert && left.key === right.key;
}
