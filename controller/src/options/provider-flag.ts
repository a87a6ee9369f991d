import { type Flag, problem, value } from "./flag.ts";

/** One provider to connect to. */
export interface ProviderEndpoint {
  /** The operator's name for it, in logs, metrics and messages. */
  readonly name: string;
  /** `unix:///absolute/path.sock`, as gRPC takes it. */
  readonly address: string;
}

/** sun_path of Linux holds 108 bytes, the last a NUL. */
const MAX_SOCKET_PATH_BYTES = 107;

/** `--provider NAME=unix:///path.sock`, repeatable. */
export const providerFlag: Flag<readonly ProviderEndpoint[]> = {
  group: "provider",
  help: "name and socket of a provider sidecar, such as acme=unix:///run/cloud-provider/provider.sock; required, repeatable",
  valueName: "name=unix:///path.sock",
  defaultValue: [],
  shape: { kind: "list", pattern: "^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?=[a-z]+:." },
  parse: (text, before) => {
    const { name, address } = split(text);
    const wrong = problemOf(name, address) ?? duplicate({ name, address }, before ?? []);
    return wrong === undefined ? value([...(before ?? []), { name, address }]) : problem(wrong);
  },
  write: (endpoints) => endpoints.map(({ name, address }) => `${name}=${address}`),
};

function split(text: string): ProviderEndpoint {
  const at = text.indexOf("=");
  return at < 0 ? { name: "", address: text } : { name: text.slice(0, at), address: text.slice(at + 1) };
}

function problemOf(name: string, address: string): string | undefined {
  if (name === "") return `"${address}" has no name; write NAME=unix:///path/to/provider.sock`;
  if (!/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(name)) {
    return `the name "${name}" is not made of lower-case letters, digits, dashes and dots (at most 63)`;
  }
  const path = address.startsWith("unix://") ? address.slice("unix://".length) : undefined;
  if (path === undefined)
    return `"${address}" is not the address of a Unix socket; write unix:///path/to/provider.sock`;
  if (!path.startsWith("/"))
    return `"${address}" has a relative path; write three slashes: unix:///path/to/provider.sock`;
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    return `the path of ${name} has ${bytes} bytes; Unix sockets allow ${MAX_SOCKET_PATH_BYTES}: use a shorter folder`;
  }
  return undefined;
}

function duplicate({ name, address }: ProviderEndpoint, before: readonly ProviderEndpoint[]): string | undefined {
  if (before.some((provider) => provider.name === name)) return `the name "${name}" is given twice`;
  const same = before.find((provider) => provider.address === address);
  return same === undefined
    ? undefined
    : `"${address}" is the address of both ${same.name} and ${name}; give each its own`;
}
