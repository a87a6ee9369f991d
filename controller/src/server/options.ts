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
 * Cipher suites of TLS 1.2 that Go supports too: IANA name to OpenSSL name. node:tls accepts IANA names, but adds all of them to the
 * list for TLS 1.3, where those of TLS 1.2 are ignored.
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

/** Always on: as in Go, a list of suites configures TLS 1.2. */
const TLS13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"] as const;

const cipherSuites: readonly string[] = [...TLS12.keys(), ...TLS13];

export function isCipherSuite(name: string): boolean {
  return cipherSuites.includes(name);
}

/** `ciphers` of node:tls for IANA names; undefined: OpenSSL's default. */
export function opensslCiphers(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return [...TLS13, ...names.flatMap((name) => TLS12.get(name) ?? [])].join(":");
}

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
        : problem(`unknown cipher suite "${unknown.trim()}"; supported: ${cipherSuites.join(", ")}`);
    },
  };
}

/** Go's names. */
const TLS_VERSIONS = ["VersionTLS12", "VersionTLS13"] as const;

export const tlsMinVersionFlag = (group: FlagGroup, help: string) =>
  choiceFlag({
    group,
    choices: TLS_VERSIONS,
    defaultValue: "VersionTLS12",
    help,
    differs: "the same default, by name; older versions are insecure and rejected",
  });

export const portFlag = (
  words: Pick<Flag<number>, "group" | "help" | "defaultValue"> & { readonly path?: string },
): Flag<number> => numberFlag({ ...words, valueName: "port", min: 0, max: 65_535, whole: true });

const group = "serving";

const file = (help: string, differs?: string) =>
  stringFlag({ group, valueName: "file", help, ...(differs === undefined ? {} : { differs }) });
const cacheTtl = (help: string) => durationFlag({ group, defaultValue: 10_000, min: 0, help });
const list = (valueName: string, defaultValue: readonly string[], help: string) =>
  listFlag({ group, valueName, defaultValue, help });

/** Names, meanings and defaults: apiserver/pkg/server/options v0.36.3. */
export const servingFlags = {
  securePort: portFlag({
    path: "Generic.Port",
    group,
    defaultValue: 10_258,
    help: "HTTPS port of health, metrics and debug endpoints, for users that the API server authorizes; 0 disables it",
  }),
  bindAddress: stringFlag({
    path: "Generic.Address",
    group,
    valueName: "ip",
    defaultValue: "0.0.0.0",
    help: "IP address on which --secure-port listens; 0.0.0.0 or :: means all",
  }),
  certDir: stringFlag({
    group,
    valueName: "directory",
    help: "directory of cloud-controller-manager.crt and .key, which are generated if missing; empty: generated at each start and kept in memory",
  }),
  tlsCertFile: file(
    "serving certificate with its chain, PEM; reloaded when it changes; takes precedence over --cert-dir",
  ),
  tlsPrivateKeyFile: file("private key of --tls-cert-file, PEM"),
  tlsMinVersion: tlsMinVersionFlag(group, "minimum TLS version"),
  tlsCipherSuites: cipherSuitesFlag({
    group,
    help: "cipher suites by IANA name; those of TLS 1.3 are always enabled; empty: OpenSSL's default",
    differs: "empty is OpenSSL's default, not Go's; suites with RC4, 3DES, or CBC with SHA-256 are rejected",
  }),
  authenticationKubeconfig: file(
    "kubeconfig for TokenReviews; empty: that of --kubeconfig",
    "empty means --kubeconfig, not anonymous requests only",
  ),
  authenticationSkipLookup: boolFlag({
    group,
    defaultValue: false,
    help: "do not read client CA certificates from the ConfigMap kube-system/extension-apiserver-authentication",
  }),
  authenticationTokenWebhookCacheTtl: cacheTtl("how long the result of a TokenReview is cached"),
  clientCaFile: file("CA certificates of clients, PEM; empty: those of the ConfigMap"),
  requestheaderClientCaFile: file(
    "CA certificates of proxies that name the user in headers, PEM; empty: those of the ConfigMap",
  ),
  requestheaderAllowedNames: list(
    "names",
    [],
    "common names of trusted proxies of --requestheader-client-ca-file; empty: all",
  ),
  requestheaderUsernameHeaders: list("headers", ["x-remote-user"], "headers in which the proxy names the user"),
  requestheaderUidHeaders: list("headers", [], "headers with the user's UID"),
  requestheaderGroupHeaders: list("headers", ["x-remote-group"], "headers with the user's groups"),
  requestheaderExtraHeadersPrefix: list(
    "prefixes",
    ["x-remote-extra-"],
    "prefixes of headers with further attributes of the user",
  ),
  authorizationKubeconfig: file(
    "kubeconfig for SubjectAccessReviews; empty: that of --kubeconfig",
    "empty means --kubeconfig, not that all requests are denied",
  ),
  authorizationAlwaysAllowPaths: list(
    "paths",
    ["/healthz", "/readyz", "/livez"],
    "paths that are served without authorization; * at the end matches any suffix",
  ),
  authorizationWebhookCacheAuthorizedTtl: cacheTtl("how long an allowed SubjectAccessReview is cached"),
  authorizationWebhookCacheUnauthorizedTtl: cacheTtl("how long a denied SubjectAccessReview is cached"),
  profiling: boolFlag({
    path: "Generic.Debugging.EnableProfiling",
    group,
    defaultValue: true,
    help: "serve /debug/pprof/profile (CPU) and /debug/pprof/heap in V8's formats, and PUT /debug/flags/v to set the log level",
    differs: "V8's formats, not Go's",
  }),
  statusPageBindAddress: stringFlag({
    group,
    valueName: "address:port",
    help: "loopback address of the status page over plain HTTP without authentication, such as 127.0.0.1:10269, for users of this machine and of port forwarding; empty: only at --secure-port",
  }),
  healthBindAddress: stringFlag({
    group,
    valueName: "host:port",
    help: "address of /healthz, /livez, /readyz and /metrics over plain HTTP without authentication, such as 127.0.0.1:10268; port 0 selects a free port; empty: disabled",
  }),
} as const;

export type ServingOptions = OptionsOf<typeof servingFlags>;

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

/** Certificate and key need each other. */
export function pairProblems(files: Readonly<Record<string, string>>): readonly Problem[] {
  const given = Object.keys(files).filter((flag) => files[flag] !== "");
  if (given.length !== 1) return [];
  const what = `required together with ${given.join()}`;
  return Object.keys(files)
    .filter((flag) => !given.includes(flag))
    .map((where) => ({ where, what }));
}

/** Only loopback addresses: the status page has no authentication. */
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
  const what = `"${statusPageBindAddress}" is not a loopback address, and there is no authentication; use 127.0.0.1 or [::1], or the page at --secure-port`;
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

/** Options of node:tls. */
export interface TlsSettings {
  readonly minVersion: SecureVersion;
  readonly ciphers?: string;
}

export function tlsSettings(oldest: ServingOptions["tlsMinVersion"], suites: readonly string[]): TlsSettings {
  const ciphers = opensslCiphers(suites);
  return { minVersion: VERSIONS[oldest], ...(ciphers === undefined ? {} : { ciphers }) };
}
