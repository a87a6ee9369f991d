import { isAbsolute } from "node:path";
import { UsageError } from "../errors.ts";
import { readTlsFiles, type TlsClient, type TlsFiles } from "./tls.ts";

/** Where a provider listens. */
export type Endpoint =
  | { readonly kind: "unix"; readonly path: string }
  /** Without `tls`: plaintext. */
  | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls?: TlsClient };

const forms = "unix:///absolute/path.sock nor tcp://host:port";

/** Reads `unix:///absolute/path.sock`, `tcp://host:port` or the same as gRPC spells it, `dns:///host:port`; over TCP, with TLS where there are files for it. */
export const parseEndpoint = (text: string, tls?: TlsFiles): Endpoint => {
  if (text.startsWith("unix://")) {
    const path = text.slice("unix://".length);
    if (!isAbsolute(path))
      throw new UsageError(`the endpoint ${text} has no absolute path; write unix:///run/cloud-provider/provider.sock`);
    if (tls !== undefined)
      throw new UsageError(`the endpoint ${text} is a Unix socket, and TLS is for TCP: take the files for TLS away`);
    return { kind: "unix", path };
  }
  const groups = /^(?:tcp:\/\/|dns:\/\/\/)(?<host>\[[0-9a-fA-F:.]+\]|[^:/[\]]+):(?<port>\d{1,5})$/.exec(text)?.groups;
  const host = groups?.["host"];
  const port = Number(groups?.["port"]);
  if (host === undefined || port > 65_535) throw new UsageError(`the endpoint ${text} is neither ${forms}`);
  const address = { kind: "tcp", host: host.replace(/^\[|\]$/g, ""), port } as const;
  return tls === undefined ? address : { ...address, tls: readTlsFiles(tls) };
};

/** The endpoint as it is written on the command line. */
export const formatEndpoint = (endpoint: Endpoint): string =>
  endpoint.kind === "unix" ? `unix://${endpoint.path}` : `tcp://${hostAndPort(endpoint)}`;

/** `host:port`, an IPv6 address in brackets. */
export const hostAndPort = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Whether a host name or address is this machine's own. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
