import { type Flag, type Parsed, problem, value } from "../options/flag.ts";
import type { ProviderTls } from "./connection/address.ts";

/** By name of the provider. */
export type ProviderTlsSettings = ReadonlyMap<string, ProviderTls>;

const REQUIRED = ["ca", "cert", "key"] as const;
const PARTS: readonly string[] = [...REQUIRED, "server-name"];
const FORM = "NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]";

/** `--provider-tls NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]`, repeatable, once a provider. */
export const providerTlsFlag: Flag<ProviderTlsSettings> = {
  group: "provider",
  help:
    "files for a provider at a tcp:// address: authorities that its certificate is checked against, our certificate and its key, all PEM and read " +
    "again when they change; server-name: what its certificate is for, where that is not the host of the address; repeatable, once a provider",
  valueName: "name=ca=file,cert=file,key=file",
  defaultValue: new Map(),
  shape: { kind: "list", pattern: "^[^=]+=[a-z-]+=." },
  parse: (text, before) => {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(at, 0));
    if (name === "") return problem(`"${text}" names no provider; write ${FORM}`);
    if (before?.has(name) === true) return problem(`provider "${name}" is given its TLS files twice`);
    const tls = parseTls(name, text.slice(at + 1));
    return tls.kind === "value" ? value(new Map([...(before ?? []), [name, tls.value]])) : tls;
  },
  write: (settings) => [...settings].map(([name, tls]) => `${name}=${written(tls)}`),
};

function parseTls(name: string, text: string): Parsed<ProviderTls> {
  const parts = new Map<string, string>();
  for (const item of text.split(",")) {
    const at = item.indexOf("=");
    const key = item.slice(0, Math.max(at, 0)).trim();
    const given = item.slice(at + 1).trim();
    if (!PARTS.includes(key)) return problem(`"${item}" is not one of ${PARTS.join("=, ")}=; write ${FORM}`);
    if (given === "") return problem(`${key}= of provider "${name}" is empty; write ${FORM}`);
    if (parts.has(key)) return problem(`${key}= of provider "${name}" is given twice`);
    parts.set(key, given);
  }
  const missing = REQUIRED.filter((key) => !parts.has(key)).map((key) => `${key}=`);
  if (missing.length > 0) return problem(`provider "${name}" lacks ${missing.join(" and ")}; write ${FORM}`);
  const [caFile = "", certFile = "", keyFile = ""] = REQUIRED.map((key) => parts.get(key));
  return value({ caFile, certFile, keyFile, serverName: parts.get("server-name") });
}

function written({ caFile, certFile, keyFile, serverName }: ProviderTls): string {
  const name = serverName === undefined ? "" : `,server-name=${serverName}`;
  return `ca=${caFile},cert=${certFile},key=${keyFile}${name}`;
}
