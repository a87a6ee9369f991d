import { cipherSuitesFlag } from "./cipher-suites-flag.ts";
import { boolFlag, choiceFlag, durationFlag, listFlag, numberFlag, stringFlag } from "../options/flag.ts";

const group = "serving";

/** The HTTPS server and whom it lets in: upstream's names, meanings and defaults (apiserver/pkg/server/options v0.36.3). */
export const servingFlags = {
  securePort: numberFlag({
    group,
    valueName: "port",
    defaultValue: 10_258,
    min: 0,
    max: 65_535,
    whole: true,
    help: "where health, metrics and debug pages are served over TLS to whom the API server lets; 0 turns it off",
  }),
  bindAddress: stringFlag({
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
    choices: ["VersionTLS12", "VersionTLS13"],
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
    group,
    defaultValue: true,
    help: "serve /debug/pprof/profile (CPU) and /debug/pprof/heap in V8's formats, and let PUT /debug/flags/v set the level of the log",
    differs: "formats of V8 and not of Go",
  }),
  statusPageAddress: stringFlag({
    group,
    valueName: "address:port",
    help: "where the status page is served on loopback, over plain HTTP and without authentication, to whoever is on this machine or may forward its ports, such as 127.0.0.1:10269; empty: nowhere but at --secure-port",
  }),
} as const;
