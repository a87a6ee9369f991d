/** Where a provider listens. */
export type Endpoint =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

/** An endpoint, or the problem with it. */
export type ParsedEndpoint =
  | { readonly kind: "endpoint"; readonly endpoint: Endpoint }
  | { readonly kind: "problem"; readonly problem: string };

/** Longest path of a Unix socket, `sun_path` less its final zero. */
const maxSocketPathBytes = 107;

const example = "for example unix:///run/cloud-provider/provider.sock";

/** Reads `unix:///absolute/path.sock` or `tcp://host:port`. */
export const parseEndpoint = (text: string | undefined): ParsedEndpoint => {
  if (text === undefined || text === "")
    return problem(`CLOUD_PROVIDER_ENDPOINT is not set: give it a socket, ${example}`);
  if (text.startsWith("unix-abstract:") || text.includes("\0") || /^unix:(?:\/\/)?@/.test(text))
    return problem(`endpoint ${JSON.stringify(text)}: abstract sockets have no permissions; use a file, ${example}`);
  if (text.startsWith("unix:")) return parseUnix(text);
  if (text.startsWith("tcp://")) return parseTcp(text);
  return problem(`endpoint ${JSON.stringify(text)} is neither unix:///path.sock nor tcp://host:port; ${example}`);
};

const problem = (text: string): ParsedEndpoint => ({ kind: "problem", problem: text });

const parseUnix = (text: string): ParsedEndpoint => {
  const path = text.startsWith("unix://") ? text.slice("unix://".length) : text.slice("unix:".length);
  const named = `endpoint ${JSON.stringify(text)}`;
  if (!path.startsWith("/")) return problem(`${named}: the path must be absolute, ${example}`);
  if (!path.endsWith(".sock") || path.endsWith("/.sock"))
    return problem(`${named}: the path must end in a name.sock, ${example}`);
  const bytes = Buffer.byteLength(path);
  if (bytes > maxSocketPathBytes)
    return problem(
      `${named}: the path has ${bytes} bytes, the system takes ${maxSocketPathBytes}; use a shorter directory`,
    );
  return { kind: "endpoint", endpoint: { kind: "unix", path } };
};

const parseTcp = (text: string): ParsedEndpoint => {
  const match = /^tcp:\/\/(?<host>\[[0-9a-fA-F:.]+\]|[^:/[\]]+):(?<port>\d{1,5})$/.exec(text);
  const host = match?.groups?.["host"];
  const port = Number(match?.groups?.["port"]);
  if (host === undefined || port > 65_535)
    return problem(`endpoint ${JSON.stringify(text)} is not tcp://host:port, for example tcp://127.0.0.1:9443`);
  return { kind: "endpoint", endpoint: { kind: "tcp", host: host.replace(/^\[|\]$/g, ""), port } };
};

/** True for addresses that never leave the machine. */
export const isLoopback = (host: string): boolean =>
  host === "::1" || host === "localhost" || /^127(?:\.\d{1,3}){3}$/.test(host);
