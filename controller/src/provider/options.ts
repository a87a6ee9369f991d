import { type LabelSelector, parseLabelSelector } from "../api/labels.ts";
import { type Flag, listFlag, type Parsed, type Problem, problem, stringFlag, value } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";
import { readFileText, type ReadText } from "../options/text-file.ts";
import { withoutUserinfo } from "../util/text.ts";
import { parseProviderAddress, type ProviderTls } from "./connection/address.ts";
import { QUOTA_CLASSES, type QuotaClass } from "./model/call-rate.ts";

export interface ProviderEndpoint {
  readonly name: string;
  /** `unix:///absolute/path.sock` or `tcp://host:port`. */
  readonly address: string;
}

/** `--provider NAME=unix:///path.sock` or `NAME=tcp://host:port`, repeatable. */
const providerFlag: Flag<readonly ProviderEndpoint[]> = {
  group: "provider",
  help:
    "name and address of a provider: the socket of a sidecar, such as acme=unix:///run/cloud-provider/provider.sock, or tcp://host:port of a " +
    "remote provider, which needs --provider-tls; required, repeatable",
  valueName: "name=unix:///path.sock|tcp://host:port",
  defaultValue: [],
  shape: { kind: "list", pattern: "^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?=[a-z]+:." },
  parse: (text, before) => {
    const { name, address } = splitEndpoint(text);
    const wrong = endpointProblem(name, address) ?? duplicateProblem({ name, address }, before ?? []);
    return wrong === undefined ? value([...(before ?? []), { name, address }]) : problem(wrong);
  },
  write: (endpoints) => endpoints.map(({ name, address }) => `${name}=${address}`),
};

function splitEndpoint(text: string): ProviderEndpoint {
  const at = text.indexOf("=");
  const scheme = text.indexOf("://");
  return at < 0 || (scheme >= 0 && scheme < at)
    ? { name: "", address: text }
    : { name: text.slice(0, at), address: text.slice(at + 1) };
}

function endpointProblem(name: string, address: string): string | undefined {
  if (name === "") return `"${withoutUserinfo(address)}" has no name; write NAME=unix:///path/to/provider.sock`;
  if (!/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(name)) {
    return `the name "${name}" must consist of lower-case letters, digits, dashes and dots (at most 63)`;
  }
  const parsed = parseProviderAddress(address);
  return parsed.kind === "problem" ? parsed.problem : undefined;
}

function duplicateProblem(
  { name, address }: ProviderEndpoint,
  before: readonly ProviderEndpoint[],
): string | undefined {
  if (before.some((provider) => provider.name === name)) return `the name "${name}" is specified twice`;
  const same = before.find((provider) => provider.address === address);
  return same === undefined
    ? undefined
    : `"${address}" is the address of both ${same.name} and ${name}; use a separate address for each`;
}

export type ProviderTlsSettings = ReadonlyMap<string, ProviderTls>;

const TLS_REQUIRED = ["ca", "cert", "key"] as const;
const TLS_PARTS: readonly string[] = [...TLS_REQUIRED, "server-name"];
const TLS_FORM = "NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]";

/** `--provider-tls NAME=ca=FILE,cert=FILE,key=FILE[,server-name=NAME]`, repeatable, once a provider. */
const providerTlsFlag: Flag<ProviderTlsSettings> = {
  group: "provider",
  help:
    "files for a provider at a tcp:// address: CA certificates, client certificate and key, all PEM and reloaded when they change; " +
    "server-name: name in its certificate if it differs from the host of the address; repeatable, once per provider",
  valueName: "name=ca=file,cert=file,key=file",
  defaultValue: new Map(),
  shape: { kind: "list", pattern: "^[^=]+=[a-z-]+=." },
  parse: (text, before) => {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(at, 0));
    if (name === "") return problem(`"${text}" has no provider name; write ${TLS_FORM}`);
    if (before?.has(name) === true) return problem(`the TLS files of provider "${name}" are specified twice`);
    const tls = parseTls(name, text.slice(at + 1));
    return tls.kind === "value" ? value(new Map([...(before ?? []), [name, tls.value]])) : tls;
  },
  write: (settings) => [...settings].map(([name, tls]) => `${name}=${tlsText(tls)}`),
};

function parseTls(name: string, text: string): Parsed<ProviderTls> {
  const parts = new Map<string, string>();
  for (const item of text.split(",")) {
    const at = item.indexOf("=");
    const key = item.slice(0, Math.max(at, 0)).trim();
    const given = item.slice(at + 1).trim();
    if (!TLS_PARTS.includes(key))
      return problem(`"${item}" is not one of ${TLS_PARTS.join("=, ")}=; write ${TLS_FORM}`);
    if (given === "") return problem(`${key}= of provider "${name}" is empty; write ${TLS_FORM}`);
    if (parts.has(key)) return problem(`${key}= of provider "${name}" is specified twice`);
    parts.set(key, given);
  }
  const missing = TLS_REQUIRED.filter((key) => !parts.has(key)).map((key) => `${key}=`);
  if (missing.length > 0) return problem(`provider "${name}" lacks ${missing.join(" and ")}; write ${TLS_FORM}`);
  const [caFile = "", certFile = "", keyFile = ""] = TLS_REQUIRED.map((key) => parts.get(key));
  return value({ caFile, certFile, keyFile, serverName: parts.get("server-name") });
}

function tlsText({ caFile, certFile, keyFile, serverName }: ProviderTls): string {
  const name = serverName === undefined ? "" : `,server-name=${serverName}`;
  return `ca=${caFile},cert=${certFile},key=${keyFile}${name}`;
}

/** By provider name: selector of its Nodes without provider ID. */
export type ProviderSelectors = ReadonlyMap<string, LabelSelector>;

/** `--provider-node-selector NAME=SELECTOR`, repeatable, once a provider. */
const providerSelectorFlag: Flag<ProviderSelectors> = {
  group: "provider",
  help:
    "label selector of the nodes without a provider ID that belong to a provider, such as acme=example.com/cloud=acme; " +
    "repeatable, once per provider. Without it, every provider is asked for the instance of such a node",
  valueName: "name=selector",
  defaultValue: new Map(),
  shape: { kind: "list", pattern: "^[^=]+=." },
  parse: (text, before) => {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(at, 0));
    const selector = text.slice(at + 1);
    if (name === "")
      return problem(`"${text}" has no provider name; write NAME=SELECTOR, such as acme=example.com/cloud=acme`);
    if (before?.has(name) === true) return problem(`provider "${name}" has two selectors; join them with a comma`);
    const parsed = parseLabelSelector(selector);
    if (parsed.kind === "invalid") return problem(`the selector of provider "${name}" is invalid: ${parsed.problem}`);
    if (parsed.selector.requirements.length === 0) {
      return problem(`the selector of provider "${name}" is empty and would match every node; specify a label`);
    }
    return value(new Map([...(before ?? []), [name, parsed.selector]]));
  },
  write: (selectors) => [...selectors].map(([name, { text }]) => `${name}=${text}`),
};

/** A configured rate of cloud requests. */
export interface ProviderCallRate {
  readonly provider: string;
  /** undefined: all calls together. */
  readonly quotaClass: QuotaClass | undefined;
  /** undefined: no limit. */
  readonly rate: { readonly cloudCallsPerSecond: number; readonly burst: number } | undefined;
}

/** `--provider-call-rate NAME[/CLASS]=RATE[:BURST]`, repeatable. */
const providerCallRateFlag: Flag<readonly ProviderCallRate[]> = {
  group: "provider",
  reloadable: true,
  help:
    "requests per second from a provider to its cloud, and their burst, such as acme=20:40 for all calls " +
    `or acme/load_balancers=5 for one quota class (${QUOTA_CLASSES.join(", ")}); repeatable. Replaces the rates that the provider declares; 0: no limit`,
  valueName: "name[/class]=rate[:burst]",
  defaultValue: [],
  shape: { kind: "list", pattern: `^[-a-z0-9.]+(/(${QUOTA_CLASSES.join("|")}))?=[0-9.]+(:[0-9]+)?$` },
  parse: (text, before = []) => {
    const [, provider = "", className, perSecond = "", burst] =
      /^([^=/]+)(?:\/([^=]*))?=([^:]*)(?::(.*))?$/.exec(text) ?? [];
    if (provider === "") return problem(`"${text}" is not NAME=RATE or NAME/CLASS=RATE, such as acme=20:40`);
    const quotaClass = QUOTA_CLASSES.find((one) => one === className);
    if (className !== undefined && quotaClass === undefined)
      return problem(`unknown quota class "${className}"; use one of ${QUOTA_CLASSES.join(", ")}`);
    if (before.some((one) => one.provider === provider && one.quotaClass === quotaClass))
      return problem(`${text.slice(0, text.indexOf("="))} has two rates`);
    const rate = parseRate(perSecond, burst);
    return rate.kind === "problem" ? rate : value([...before, { provider, quotaClass, rate: rate.value }]);
  },
  write: (rates) =>
    rates.map(({ provider, quotaClass, rate }) => {
      const limit = rate === undefined ? "0" : `${rate.cloudCallsPerSecond}:${rate.burst}`;
      return `${provider}${quotaClass === undefined ? "" : `/${quotaClass}`}=${limit}`;
    }),
};

function parseRate(perSecond: string, burstText: string | undefined): Parsed<ProviderCallRate["rate"]> {
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(perSecond))
    return problem(`"${perSecond}" is not a number of requests per second, such as 20 or 0.5`);
  const cloudCallsPerSecond = Number(perSecond);
  const burst = burstText ?? String(Math.max(1, Math.ceil(cloudCallsPerSecond)));
  if (!/^[1-9]\d{0,5}$/.test(burst)) return problem(`the burst "${burst}" is not a whole number, 1 or more`);
  return value(cloudCallsPerSecond === 0 ? undefined : { cloudCallsPerSecond, burst: Number(burst) });
}

export const providerFlags = {
  provider: providerFlag,
  providerTls: providerTlsFlag,
  providerPlaintext: listFlag({
    group: "provider",
    valueName: "name[,name]",
    defaultValue: [],
    help: "providers at tcp:// addresses to call without TLS, for development only: anyone on the network path can change the cloud",
  }),
  providerNodeSelector: providerSelectorFlag,
  providerCallRate: providerCallRateFlag,
  defaultLoadBalancerProvider: stringFlag({
    group: "provider",
    valueName: "name",
    help: "provider of Services without loadBalancerClass; empty: the first --provider",
  }),
} as const;

export type ProviderOptions = OptionsOf<typeof providerFlags>;

/** The list of providers needs a restart: a removed one keeps its rate until then. */
export function settleCallRates<O extends Pick<ProviderOptions, "provider" | "providerCallRate">>(
  inForce: O,
  wanted: O,
): O {
  const isIn = (options: O, provider: string): boolean => options.provider.some(({ name }) => name === provider);
  const providerCallRate = [
    ...wanted.providerCallRate.filter(({ provider }) => isIn(inForce, provider)),
    ...inForce.providerCallRate.filter(({ provider }) => !isIn(wanted, provider)),
  ];
  return { ...wanted, providerCallRate };
}

type Endpoints = Pick<ProviderOptions, "provider" | "providerTls" | "providerPlaintext">;

const TLS = "--provider-tls";
const PLAINTEXT = "--provider-plaintext";

/** Providers at tcp:// addresses need TLS files or --provider-plaintext; others must have neither. */
export function providerTlsProblems({ provider, providerTls, providerPlaintext }: Endpoints): readonly Problem[] {
  const addresses = new Map(provider.map(({ name, address }) => [name, address]));
  const given = [
    ...[...providerTls.keys()].map((name) => ({ where: TLS, name })),
    ...providerPlaintext.map((name) => ({ where: PLAINTEXT, name })),
  ];
  const misplaced = given.flatMap(({ where, name }) => {
    const what = misplacedAt(name, addresses);
    return what === undefined ? [] : [{ where, what }];
  });
  const both = providerPlaintext
    .filter((name) => providerTls.has(name))
    .map((name) => ({ where: PLAINTEXT, what: `provider "${name}" also has --provider-tls; remove one of them` }));
  return [...misplaced, ...both, ...unprotected({ provider, providerTls, providerPlaintext })];
}

function misplacedAt(name: string, addresses: ReadonlyMap<string, string>): string | undefined {
  const address = addresses.get(name);
  if (address === undefined && addresses.size === 0) return undefined;
  if (address === undefined) return `unknown provider "${name}"; --provider names ${[...addresses.keys()].join(", ")}`;
  if (isTcp(address)) return undefined;
  return `provider "${name}" is at ${address}; a Unix socket has no TLS, its file permissions protect it: remove this`;
}

function unprotected({ provider, providerTls, providerPlaintext }: Endpoints): readonly Problem[] {
  return provider
    .filter(({ name, address }) => isTcp(address) && !providerTls.has(name) && !providerPlaintext.includes(name))
    .map(({ name, address }) => ({
      where: "--provider",
      what: `${address} requires TLS: otherwise any host on the network path could change the cloud; add --provider-tls=${name}=ca=FILE,cert=FILE,key=FILE`,
    }));
}

/** Unreadable files: a typo, or an unmounted Secret. Their contents are checked when connecting. */
export function providerTlsFileProblems(
  { providerTls }: Pick<ProviderOptions, "providerTls">,
  readText: ReadText,
): readonly Problem[] {
  return [...providerTls].flatMap(([name, tls]) =>
    TLS_REQUIRED.flatMap((key) => {
      const file = readFileText(tls[`${key}File`], readText);
      return file.kind === "text" ? [] : [{ where: TLS, what: `${key}= of provider "${name}" ${file.what}` }];
    }),
  );
}

function isTcp(address: string): boolean {
  return address.startsWith("tcp://");
}
