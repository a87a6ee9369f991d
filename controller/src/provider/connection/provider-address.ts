import { problem, type Parsed, value } from "../../options/flag.ts";
import { withoutUserinfo } from "../../util/userinfo.ts";
import { parseAddress } from "../../options/host-port.ts";

/** Where a provider listens. */
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
    `"${withoutUserinfo(text)}" is no address of a provider; write unix:///path/to/provider.sock or tcp://host:port`,
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
      `the path of the socket has ${bytes} bytes; Unix sockets allow ${MAX_SOCKET_PATH_BYTES}: use a shorter folder`,
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
