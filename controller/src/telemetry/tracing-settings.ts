import { withoutUserinfo } from "../util/text.ts";

/** Where traces go and which are taken. */
export interface TracingSettings {
  /** `http://host:port` in plain text, `https://host:port` over TLS. OTLP over gRPC is spoken there. */
  readonly endpoint: string;
  readonly sampling: Sampling;
}

/** Which new traces are taken. One that somebody else has begun is taken as its beginner has it, unless `isParentBased` is false. */
export interface Sampling {
  /** From 0 to 1. */
  readonly ratio: number;
  readonly isParentBased: boolean;
}

/** What one place says; `Wrong` is how it tells its problems. */
export type SettingsReading<Settings, Wrong> =
  | { readonly kind: "settings"; readonly settings: Settings }
  | { readonly kind: "invalid"; readonly problems: readonly Wrong[] };

/** Where a collector on the same host listens: IANA's port of OTLP over gRPC. */
export const DEFAULT_ENDPOINT = "http://localhost:4317";

/** A scheme in front, or none. */
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/** An endpoint as OTLP over gRPC takes it, or why it is none. Without a scheme it is in plain text, as upstream has it. */
export function readEndpoint(
  text: string,
): { readonly kind: "endpoint"; readonly url: string } | { readonly kind: "problem"; readonly what: string } {
  const shown = withoutUserinfo(text);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? text : text.slice(scheme.length + "://".length);
  if (scheme !== undefined && !["http", "https", "dns"].includes(scheme))
    return problem(`"${shown}" begins with ${scheme}://; say host:port, http://host:port or https://host:port`);
  // gRPC's own form is dns:///host:port.
  const address = (scheme === "dns" ? rest.replace(/^\//, "") : rest).replace(/\/$/, "");
  const protocol = scheme === "https" ? "https" : "http";
  const url = URL.parse(`${protocol}://${address}`);
  if (url === null || url.hostname === "" || !isPlainAddress(url))
    return problem(`"${shown}" is not a host and a port; a path, a query or a user has no place in it`);
  if (!/:\d+$/.test(address))
    return problem(`"${shown}" names no port; a collector takes OTLP over gRPC on 4317 as a rule`);
  return { kind: "endpoint", url: `${protocol}://${address}` };
}

function isPlainAddress({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && [search, hash, username, password].every((part) => part === "");
}

function problem(what: string): { readonly kind: "problem"; readonly what: string } {
  return { kind: "problem", what };
}
