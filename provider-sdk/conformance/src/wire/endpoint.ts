import { isAbsolute } from "node:path";
import { UsageError } from "../check/usage-error.ts";

/** Where a provider listens. */
export type Endpoint =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

/** Reads `unix:///absolute/path.sock` or `tcp://host:port`. */
export const parseEndpoint = (text: string): Endpoint => {
  if (text.startsWith("unix://")) {
    const path = text.slice("unix://".length);
    if (!isAbsolute(path))
      throw new UsageError(`the endpoint ${text} has no absolute path; write unix:///run/cloud-provider/provider.sock`);
    return { kind: "unix", path };
  }
  const tcp = /^tcp:\/\/(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text);
  if (tcp?.[1] !== undefined) return { kind: "tcp", host: tcp[1].replace(/^\[|\]$/g, ""), port: Number(tcp[2]) };
  throw new UsageError(`the endpoint ${text} is neither unix:///absolute/path.sock nor tcp://host:port`);
};

/** The endpoint as it is written on the command line. */
export const formatEndpoint = (endpoint: Endpoint): string =>
  endpoint.kind === "unix" ? `unix://${endpoint.path}` : `tcp://${endpoint.host}:${endpoint.port}`;

/** Whether a host name or address is this machine's own. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
