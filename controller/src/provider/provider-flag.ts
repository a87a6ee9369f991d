import { withoutUserinfo } from "../util/text.ts";
import { type Flag, problem, value } from "../options/flag.ts";
import { parseProviderAddress } from "./connection/address.ts";

/** One provider to connect to. */
export interface ProviderEndpoint {
  /** The operator's name for it, in logs, metrics and messages. */
  readonly name: string;
  /** `unix:///absolute/path.sock`, `tcp://host:port`. */
  readonly address: string;
}

/** `--provider NAME=unix:///path.sock` or `NAME=tcp://host:port`, repeatable. */
export const providerFlag: Flag<readonly ProviderEndpoint[]> = {
  group: "provider",
  help:
    "name and address of a provider: the socket of a sidecar, such as acme=unix:///run/cloud-provider/provider.sock, or tcp://host:port of one " +
    "elsewhere, which needs --provider-tls; required, repeatable",
  valueName: "name=unix:///path.sock|tcp://host:port",
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
  const scheme = text.indexOf("://");
  return at < 0 || (scheme >= 0 && scheme < at)
    ? { name: "", address: text }
    : { name: text.slice(0, at), address: text.slice(at + 1) };
}

function problemOf(name: string, address: string): string | undefined {
  if (name === "") return `"${withoutUserinfo(address)}" has no name; write NAME=unix:///path/to/provider.sock`;
  if (!/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(name)) {
    return `the name "${name}" is not made of lower-case letters, digits, dashes and dots (at most 63)`;
  }
  const parsed = parseProviderAddress(address);
  return parsed.kind === "problem" ? parsed.problem : undefined;
}

function duplicate({ name, address }: ProviderEndpoint, before: readonly ProviderEndpoint[]): string | undefined {
  if (before.some((provider) => provider.name === name)) return `the name "${name}" is given twice`;
  const same = before.find((provider) => provider.address === address);
  return same === undefined
    ? undefined
    : `"${address}" is the address of both ${same.name} and ${name}; give each its own`;
}
