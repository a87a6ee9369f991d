/** Where to listen, or whom to call. */
export interface HostPort {
  /** An IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `[v6]:port`; undefined when it is neither. */
export function parseAddress(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] === "" ? "0.0.0.0" : (match[2] ?? "")), port };
}
