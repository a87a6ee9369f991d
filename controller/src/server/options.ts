import { BlockList, isIP } from "node:net";
import type { SecureVersion } from "node:tls";
import {
  boolFlag,
  choiceFlag,
  durationFlag,
  type Flag,
  type FlagGroup,
  listFlag,
  numberFlag,
  parseAddress,
  type Problem,
  problem,
  stringFlag,
} from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";

/**
 * Cipher suites of TLS 1.2 that Go knows as well, by IANA name, with the name that node:tls takes. It takes IANA names too, but puts them all
 * into the list of TLS 1.3, where those of TLS 1.2 are passed over in silence.
 */
const TLS12: ReadonlyMap<string, string> = new Map([
  ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"],
  ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"],
  ["TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
  ["TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"],
  ["TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"],
  ["TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"],
]);

/** All of them are always on: as in Go, a list of suites is about TLS 1.2. */
const TLS13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"] as const;

/** All that can be named. */
const cipherSuites: readonly string[] = [...TLS12.keys(), ...TLS13];

export function isCipherSuite(name: string): boolean {
  return cipherSuites.includes(name);
}

/** `ciphers` of node:tls for suites by their IANA names; undefined: none are named, OpenSSL chooses. */
export function opensslCiphers(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return [...TLS13, ...names.flatMap((name) => TLS12.get(name) ?? [])].join(":");
}

/** Names of cipher suites as IANA writes them, which are Go's names as well. */
export function cipherSuitesFlag(words: {
  readonly group: FlagGroup;
  readonly help: string;
  readonly differs: string;
}): Flag<readonly string[]> {
  const list = listFlag({ ...words, valueName: "names", defaultValue: [] });
  return {
    ...list,
    shape: { kind: "list", choices: cipherSuites },
    parse: (text, before) => {
      const unknown = text.split(",").find((name) => text !== "" && !isCipherSuite(name.trim()));
      return unknown === undefined
        ? list.parse(text, before)
        : problem(`"${unknown.trim()}" is no cipher suite of this program's; there are ${cipherSuites.join(", ")}`);
    },
  };
}

/** Oldest TLS, by Go's names. */
export const TLS_VERSIONS = ["VersionTLS12", "VersionTLS13"] as const;

const group = "serving";

/** The HTTPS server and whom it lets in: upstream's names, meanings and defaults (apiserver/pkg/server/options v0.36.3). */
export const servingFlags = {
  securePort: numberFlag({
    path: "Generic.Port",
    group,
    valueName: "port",
    defaultValue: 10_258,
    min: 0,
    max: 65_535,
    whole: true,
    help: "where health, metrics and debug pages are served over TLS to whom the API server lets; 0 turns it off",
  }),
  bindAddress: stringFlag({
    path: "Generic.Address",
    group,
    valueName: "ip",
    defaultValue: "0.0.0.0",
    help: "address to listen on at --secure-port; 0.0.0.0 or :: means all",
  }),
  certDir: stringFlag({
    group,
    valueName: "folder",
    help: "where cloud-controller-manager.crt and .key are, or are put when they are made; empty: made at each start, kept in memory",
  }),
  tlsCertFile: stringFlag({
    group,
    valueName: "file",
    help: "serving certificate with its chain, PEM; read again when it changes. Comes before --cert-dir",
  }),
  tlsPrivateKeyFile: stringFlag({ group, valueName: "file", help: "private key of --tls-cert-file, PEM" }),
  tlsMinVersion: choiceFlag({
    group,
    choices: TLS_VERSIONS,
    defaultValue: "VersionTLS12",
    help: "oldest TLS that is spoken",
    differs: "the same default, by name; older versions are broken and refused",
  }),
  tlsCipherSuites: cipherSuitesFlag({
    group,
    help: "cipher suites that are taken, by their IANA names; those of TLS 1.3 are always on; empty: OpenSSL's choice",
    differs: "empty is OpenSSL's choice and not Go's; suites with RC4, 3DES, or CBC with SHA-256 are refused",
  }),
  authenticationKubeconfig: stringFlag({
    group,
    valueName: "file",
    help: "kubeconfig of the API server that is asked about tokens (TokenReview); empty: the one of --kubeconfig",
    differs: "empty is the one of --kubeconfig and not anonymous users alone",
  }),
  authenticationSkipLookup: boolFlag({
    group,
    defaultValue: false,
    help: "do not read whom to trust from the ConfigMap kube-system/extension-apiserver-authentication",
  }),
  authenticationTokenWebhookCacheTtl: durationFlag({
    group,
    defaultValue: 10_000,
    min: 0,
    help: "how long the API server's answer about a token is kept",
  }),
  clientCaFile: stringFlag({
    group,
    valueName: "file",
    help: "authorities of client certificates, PEM; empty: those of the ConfigMap",
  }),
  requestheaderClientCaFile: stringFlag({
    group,
    valueName: "file",
    help: "authorities of proxies that say in headers who asks, PEM; empty: what the ConfigMap says",
  }),
  requestheaderAllowedNames: listFlag({
    group,
    valueName: "names",
    defaultValue: [],
    help: "common names of proxies of --requestheader-client-ca-file; none: all are believed",
  }),
  requestheaderUsernameHeaders: listFlag({
    group,
    valueName: "headers",
    defaultValue: ["x-remote-user"],
    help: "headers in which such a proxy names the user",
  }),
  requestheaderUidHeaders: listFlag({
    group,
    valueName: "headers",
    defaultValue: [],
    help: "headers in which such a proxy gives the user's UID",
  }),
  requestheaderGroupHeaders: listFlag({
    group,
    valueName: "headers",
    defaultValue: ["x-remote-group"],
    help: "headers in which such a proxy names the user's groups",
  }),
  requestheaderExtraHeadersPrefix: listFlag({
    group,
    valueName: "prefixes",
    defaultValue: ["x-remote-extra-"],
    help: "what headers with further attributes of the user begin with",
  }),
  authorizationKubeconfig: stringFlag({
    group,
    valueName: "file",
    help: "kubeconfig of the API server that is asked who may read what (SubjectAccessReview); empty: the one of --kubeconfig",
    differs: "empty is the one of --kubeconfig and not a refusal of all",
  }),
  authorizationAlwaysAllowPaths: listFlag({
    group,
    valueName: "paths",
    defaultValue: ["/healthz", "/readyz", "/livez"],
    help: "paths that everybody may read; one that ends in * stands for all that begin so",
  }),
  authorizationWebhookCacheAuthorizedTtl: durationFlag({
    group,
    defaultValue: 10_000,
    min: 0,
    help: "how long a yes of the API server is kept",
  }),
  authorizationWebhookCacheUnauthorizedTtl: durationFlag({
    group,
    defaultValue: 10_000,
    min: 0,
    help: "how long a no of the API server is kept",
  }),
  profiling: boolFlag({
    path: "Generic.Debugging.EnableProfiling",
    group,
    defaultValue: true,
    help: "serve /debug/pprof/profile (CPU) and /debug/pprof/heap in V8's formats, and let PUT /debug/flags/v set the level of the log",
    differs: "formats of V8 and not of Go",
  }),
  statusPageBindAddress: stringFlag({
    group,
    valueName: "address:port",
    help: "where the status page is served on loopback, over plain HTTP and without authentication, to whoever is on this machine or may forward its ports, such as 127.0.0.1:10269; empty: nowhere but at --secure-port",
  }),
  healthBindAddress: stringFlag({
    group,
    valueName: "host:port",
    help: "where /healthz, /livez, /readyz and /metrics are served in plain HTTP to whoever asks, such as 127.0.0.1:10268; port 0 picks one, empty: nowhere",
  }),
} as const;

export type ServingOptions = OptionsOf<typeof servingFlags>;

/** What is wrong with the settings of the HTTPS server. */
export function servingProblems({
  securePort,
  bindAddress,
  tlsCertFile,
  tlsPrivateKeyFile,
}: Pick<ServingOptions, "securePort" | "bindAddress" | "tlsCertFile" | "tlsPrivateKeyFile">): readonly Problem[] {
  if (securePort === 0) return [];
  return [
    ...addressProblems("--bind-address", bindAddress),
    ...pairProblems({ "--tls-cert-file": tlsCertFile, "--tls-private-key-file": tlsPrivateKeyFile }),
  ];
}

export function addressProblems(where: string, address: string): readonly Problem[] {
  return isIP(address) > 0 ? [] : [{ where, what: `"${address}" is not an IP address; write it like 0.0.0.0 or ::` }];
}

/** Two files by their flags, of which one is of no use without the other. */
export function pairProblems(files: Readonly<Record<string, string>>): readonly Problem[] {
  const given = Object.keys(files).filter((flag) => files[flag] !== "");
  if (given.length !== 1) return [];
  const what = `is missing: ${given.join()} is given, and one is of no use without the other`;
  return Object.keys(files)
    .filter((flag) => !given.includes(flag))
    .map((where) => ({ where, what }));
}

/** Nobody is asked who they are there: it is for this machine alone. */
export function statusPageProblems({
  statusPageBindAddress,
}: Pick<ServingOptions, "statusPageBindAddress">): readonly Problem[] {
  if (statusPageBindAddress === "") return [];
  const where = "--status-page-bind-address";
  const address = parseAddress(statusPageBindAddress);
  if (address === undefined || isIP(address.host) === 0)
    return [
      { where, what: `"${statusPageBindAddress}" is not an IP address and a port; write it like 127.0.0.1:10269` },
    ];
  if (LOOPBACK.check(address.host, isIP(address.host) === 6 ? "ipv6" : "ipv4")) return [];
  const what = `"${statusPageBindAddress}" is not on loopback, and there is no authentication; take 127.0.0.1 or [::1], or the page at --secure-port`;
  return [{ where, what }];
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

export function healthBindAddressProblems({
  healthBindAddress: text,
}: Pick<ServingOptions, "healthBindAddress">): readonly Problem[] {
  if (text === "" || parseAddress(text) !== undefined) return [];
  return [
    {
      where: "--health-bind-address",
      what: `"${text}" is not host:port; write it like 127.0.0.1:10268 or [::1]:10268`,
    },
  ];
}

const VERSIONS: Readonly<Record<ServingOptions["tlsMinVersion"], SecureVersion>> = {
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** What node:tls takes for an oldest version and cipher suites as flags have them. */
export interface TlsSettings {
  readonly minVersion: SecureVersion;
  readonly ciphers?: string;
}

export function tlsSettings(oldest: ServingOptions["tlsMinVersion"], suites: readonly string[]): TlsSettings {
  const ciphers = opensslCiphers(suites);
  return { minVersion: VERSIONS[oldest], ...(ciphers === undefined ? {} : { ciphers }) };
}
