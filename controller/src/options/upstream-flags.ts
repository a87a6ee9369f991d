import { type Flag, boolFlag, choiceFlag, durationFlag, numberFlag, problem, stringFlag, value } from "./flag.ts";
import { type FlagTable, commandFlags, isCommandFlag } from "./table.ts";

/** A flag of upstream that the program accepts and ignores, so that manifests need not change. */
export interface UnusedFlag {
  /** Rejects the values that upstream rejects. */
  readonly flag: Flag<unknown>;
  /** Why it is ignored, or what replaces it: one clause without a period. */
  readonly instead: string;
  /** In upstream's configuration file. */
  readonly path: string | undefined;
}

const NO_WORDS = { group: "upstream", help: "" } as const;

const text = (valueName: string): Flag<string> => stringFlag({ ...NO_WORDS, valueName });
const toggle = boolFlag({ ...NO_WORDS, defaultValue: false });
const duration = durationFlag({ ...NO_WORDS, min: 0, defaultValue: 0 });
/** Go's int32. */
const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1, whole: true } as const;
const whole = numberFlag({ ...NO_WORDS, ...INT32, valueName: "number", defaultValue: 0 });

const formed = (valueName: string, form: RegExp, example: string): Flag<string> => ({
  ...text(valueName),
  parse: (given) => (form.test(given) ? value(given) : problem(`"${given}" is not written like ${example}`)),
});
const certificates = formed("cert,key[:names]", /^[^,]+,[^,:]+(?::.*)?$/, "server.crt,server.key");
const curves = formed("numbers", /^\d+(?:,\d+)*$/, "29,23");
const levels = formed("pattern=level,…", /^$|^[^=,]+=\d+(?:,[^=,]+=\d+)*$/, "main=2,cache*=4");
const quantity = formed("quantity", /^[+-]?[0-9.]+(?:[eEinumkKMGTP]*[-+]?[0-9]*)$/, "64Ki");
const leases = choiceFlag({ ...NO_WORDS, choices: ["leases"], defaultValue: "leases" });
/** component-base/featuregate v0.36.3. */
const featureGates: Flag<readonly string[]> = {
  ...NO_WORDS,
  valueName: "name=true|false,…",
  defaultValue: [],
  shape: { kind: "list" },
  parse: (given, before) => {
    const items = given.split(",").map((item) => item.trim());
    const wrong = items.find((item) => item !== "" && !/^\w+=(?:true|false)$/.test(item));
    return wrong === undefined
      ? value([...(before ?? []), ...items])
      : problem(`"${wrong}" is not written like SomeFeature=true`);
  },
  write: (items) => items,
};

const SIDECAR = "the provider sidecar has the settings of the cloud";
const TEXT_LOG = "lines are written immediately to one stream; --logging-format selects their format";
const NO_HTTP2 = "the endpoints are served over HTTP/1.1";
const ONE_CERTIFICATE = "the server has one certificate; put all names into it";
const OPENSSL_CURVES = "OpenSSL's order of curves is used";
const NO_SHARING = "only one process can use a port at a time";
const NODE_WRITES = "--concurrent-node-syncs limits all writes to Nodes, and look-ups share cloud calls";

/** By name without dashes; the flags of cloud-provider v0.36.3 that are in no other table. */
const UNUSED: Readonly<Record<string, readonly [flag: Flag<unknown>, instead: string]>> = {
  "cloud-provider": [text("name"), "--provider names the provider sidecars"],
  "cloud-config": [text("file"), `the file is not passed on: ${SIDECAR}`],
  "allow-untagged-cloud": [toggle, `${SIDECAR}, and every call carries the cluster ID`],
  "external-cloud-volume-plugin": [text("name"), "it has no effect in upstream either"],
  "node-sync-period": [duration, "--node-status-update-frequency is the period"],
  "min-resync-period": [duration, "the caches do not resync on a timer"],
  "concurrent-node-status-updates": [whole, NODE_WRITES],
  "controller-start-interval": [duration, "controllers start together and share their caches"],
  "feature-gates": [featureGates, "this program has no feature gates"],
  "kube-api-content-type": [text("type"), "Nodes and Services are read as protobuf if the server supports it"],
  "use-service-account-credentials": [toggle, "all controllers share one identity with all the permissions they need"],
  "contention-profiling": [toggle, "it profiles locks of Go programs"],
  "leader-elect-resource-lock": [leases, "the lock is always a Lease"],
  vmodule: [levels, "-v sets the level of all lines"],
  "log-flush-frequency": [duration, TEXT_LOG],
  "log-text-split-stream": [toggle, TEXT_LOG],
  "log-text-info-buffer-size": [quantity, TEXT_LOG],
  "disable-http2-serving": [toggle, NO_HTTP2],
  "http2-max-streams-per-connection": [whole, NO_HTTP2],
  "webhook-disable-http2-serving": [toggle, NO_HTTP2],
  "authentication-tolerate-lookup-failure": [toggle, "a failed look-up is retried and never ends the process"],
  "tls-sni-cert-key": [certificates, ONE_CERTIFICATE],
  "webhook-tls-sni-cert-key": [certificates, ONE_CERTIFICATE],
  "tls-curve-preferences": [curves, OPENSSL_CURVES],
  "webhook-tls-curve-preferences": [curves, OPENSSL_CURVES],
  "permit-address-sharing": [toggle, NO_SHARING],
  "permit-port-sharing": [toggle, NO_SHARING],
};

const PATHS: Readonly<Record<string, string>> = {
  "cloud-provider": "KubeCloudShared.CloudProvider.Name",
  "cloud-config": "KubeCloudShared.CloudProvider.CloudConfigFile",
  "allow-untagged-cloud": "KubeCloudShared.AllowUntaggedCloud",
  "external-cloud-volume-plugin": "KubeCloudShared.ExternalCloudVolumePlugin",
  "node-sync-period": "KubeCloudShared.NodeSyncPeriod",
  "min-resync-period": "Generic.MinResyncPeriod",
  "concurrent-node-status-updates": "NodeController.ConcurrentNodeStatusUpdates",
  "controller-start-interval": "Generic.ControllerStartInterval",
  "kube-api-content-type": "Generic.ClientConnection.ContentType",
  "use-service-account-credentials": "KubeCloudShared.UseServiceAccountCredentials",
  "contention-profiling": "Generic.Debugging.EnableContentionProfiling",
  "leader-elect-resource-lock": "Generic.LeaderElection.ResourceLock",
};

export const unusedFlags: ReadonlyMap<string, UnusedFlag> = new Map(
  Object.entries(UNUSED).map(([name, [flag, instead]]) => [name, { flag, instead, path: PATHS[name] }]),
);

/** By path in upstream's configuration file. */
export const unusedPaths: ReadonlyMap<string, UnusedFlag> = new Map(
  [...unusedFlags.values()].flatMap((unused) => (unused.path === undefined ? [] : [[unused.path, unused] as const])),
);

/** How this program supports a flag of upstream. */
export type FlagSupport =
  /** Same default, same meaning. */
  | { readonly kind: "same" }
  /** Other default or meaning. */
  | { readonly kind: "mapped"; readonly how: string }
  /** Accepted and ignored, with a warning. */
  | { readonly kind: "warned"; readonly instead: string };

/** undefined: the flag is rejected. `name` is without dashes. */
export function supportOf(table: Pick<FlagTable<unknown>, "byName">, name: string): FlagSupport | undefined {
  const unused = unusedFlags.get(name);
  if (unused !== undefined) return { kind: "warned", instead: unused.instead };
  const row = table.byName.get(name)?.flag ?? (isCommandFlag(name) ? commandFlags.get(name) : undefined);
  if (row === undefined) return undefined;
  return row.differs === undefined ? { kind: "same" } : { kind: "mapped", how: row.differs };
}
