import { type ChannelCredentials, type ChannelOptions, credentials } from "@grpc/grpc-js";
import { isIPv6 } from "node:net";
import type { ProviderAddress } from "./provider-address.ts";
import type { TlsMaterial } from "./tls-files.ts";

/** Largest message sent or taken; @grpc/grpc-js takes 4 MiB unless told. Raised for inline node lists. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const COMMON_OPTIONS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc.enable_channelz": 0,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
} as const;

/**
 * @grpc/grpc-js' own defaults find a restarted sidecar seconds late: with 1 s and 120 s, 3.5 s after an outage of 5 s. No
 * keepalive: the kernel tells at once when the other end of a Unix socket is gone.
 */
const UNIX_OPTIONS = {
  ...COMMON_OPTIONS,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
  "grpc.default_authority": "localhost",
} as const;

/**
 * A host that is down is asked less often, and its name looked up again as soon: @grpc/grpc-js waits 30 s between two look-ups, and a
 * provider that moved has another address. Pings no closer than servers must tolerate (proto/README.md TRN-5); that a peer is
 * dead shows sooner by its status calls.
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

/** What a gRPC channel is made of. */
export interface ChannelParts {
  readonly target: string;
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/** Without `material`: plaintext. `serverName` undefined: the certificate must be for the host of the address. */
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
