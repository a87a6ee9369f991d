import { type Flag, boolFlag, choiceFlag, durationFlag, numberFlag, problem, stringFlag, value } from "./flag.ts";
import { type FlagTable, commandFlags, isCommandFlag } from "./table.ts";

/** A flag of upstream's that this program takes so that a manifest need not change, and does not need. */
export interface UnusedFlag {
  /** Values upstream would refuse are refused. */
  readonly flag: Flag<unknown>;
  /** Why it has no effect, and what has: one clause without full stop. */
  readonly instead: string;
  /** Where upstream's configuration file has the setting. */
  readonly path?: string;
}

const text = (valueName: string): Flag<string> => stringFlag({ ...NO_WORDS, valueName });
const toggle = (): Flag<boolean> => boolFlag({ ...NO_WORDS, defaultValue: false });
const duration = (): Flag<number> => durationFlag({ ...NO_WORDS, min: 0, defaultValue: 0 });
/** Go's int32. */
const whole = (): Flag<number> =>
  numberFlag({ ...NO_WORDS, valueName: "number", min: -(2 ** 31), max: 2 ** 31 - 1, whole: true, defaultValue: 0 });

/** Text of a form; empty text where `form` says so. */
const formed = (valueName: string, form: RegExp, example: string): Flag<string> => ({
  ...text(valueName),
  parse: (given) => (form.test(given) ? value(given) : problem(`"${given}" is not written like ${example}`)),
});
const certificates = (): Flag<string> => formed("cert,key[:names]", /^[^,]+,[^,:]+(?::.*)?$/, "server.crt,server.key");
const curves = (): Flag<string> => formed("numbers", /^\d+(?:,\d+)*$/, "29,23");

const NO_WORDS = { group: "upstream", help: "" } as const;

/** `Name=true,Other=false` (component-base/featuregate v0.36.3). */
const gates: Flag<readonly string[]> = {
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

const NO_HTTP2 = "pages are served over HTTP/1.1";
const ONE_CERTIFICATE = "one certificate is served; put all names into it";
const OPENSSL_CURVES = "OpenSSL's order of curves is used";
const NO_SHARING = "a port is taken by one process at a time";
const SIDECAR = "the provider sidecar has the cloud's settings";
const TEXT_LOG = "lines are written at once, in one stream; --logging-format chooses their form";

/** By name without dashes; those of cloud-provider v0.36.3 that are in no other table. */
export const unusedFlags: ReadonlyMap<string, UnusedFlag> = new Map<string, UnusedFlag>([
  [
    "cloud-provider",
    {
      path: "KubeCloudShared.CloudProvider.Name",
      flag: text("name"),
      instead: "--provider names the sidecars that reach the clouds",
    },
  ],
  [
    "cloud-config",
    {
      path: "KubeCloudShared.CloudProvider.CloudConfigFile",
      flag: text("file"),
      instead: `it is passed to nobody: ${SIDECAR}`,
    },
  ],
  [
    "allow-untagged-cloud",
    {
      path: "KubeCloudShared.AllowUntaggedCloud",
      flag: toggle(),
      instead: `${SIDECAR}, and every call carries the cluster's identity`,
    },
  ],
  [
    "external-cloud-volume-plugin",
    {
      path: "KubeCloudShared.ExternalCloudVolumePlugin",
      flag: text("name"),
      instead: "it has no effect in upstream's either",
    },
  ],
  [
    "node-sync-period",
    {
      path: "KubeCloudShared.NodeSyncPeriod",
      flag: duration(),
      instead: "--node-status-update-frequency is the period",
    },
  ],
  [
    "min-resync-period",
    {
      path: "Generic.MinResyncPeriod",
      flag: duration(),
      instead: "nothing is resynchronized by a timer of the caches",
    },
  ],
  [
    "concurrent-node-status-updates",
    {
      path: "NodeController.ConcurrentNodeStatusUpdates",
      flag: whole(),
      instead: "--concurrent-node-syncs limits all writes to nodes, and look-ups share cloud calls",
    },
  ],
  [
    "controller-start-interval",
    {
      path: "Generic.ControllerStartInterval",
      flag: duration(),
      instead: "controllers start together, on caches that are shared",
    },
  ],
  ["feature-gates", { flag: gates, instead: "this program has no feature gates" }],
  [
    "kube-api-content-type",
    {
      path: "Generic.ClientConnection.ContentType",
      flag: text("type"),
      instead: "nodes and services are read as protobuf where the server has it",
    },
  ],
  [
    "use-service-account-credentials",
    {
      path: "KubeCloudShared.UseServiceAccountCredentials",
      flag: toggle(),
      instead: "all controllers share one identity, whose rights are the sum of what they need",
    },
  ],
  [
    "contention-profiling",
    {
      path: "Generic.Debugging.EnableContentionProfiling",
      flag: toggle(),
      instead: "it is about locks of Go programs",
    },
  ],
  [
    "leader-elect-resource-lock",
    {
      path: "Generic.LeaderElection.ResourceLock",
      flag: choiceFlag({ ...NO_WORDS, choices: ["leases"], defaultValue: "leases" }),
      instead: "the lock is always a Lease",
    },
  ],
  [
    "vmodule",
    {
      flag: formed("pattern=level,…", /^$|^[^=,]+=\d+(?:,[^=,]+=\d+)*$/, "main=2,cache*=4"),
      instead: "-v sets the level of all lines",
    },
  ],
  ["log-flush-frequency", { flag: duration(), instead: TEXT_LOG }],
  ["log-text-split-stream", { flag: toggle(), instead: TEXT_LOG }],
  [
    "log-text-info-buffer-size",
    { flag: formed("quantity", /^[+-]?[0-9.]+(?:[eEinumkKMGTP]*[-+]?[0-9]*)$/, "64Ki"), instead: TEXT_LOG },
  ],
  ["disable-http2-serving", { flag: toggle(), instead: NO_HTTP2 }],
  ["http2-max-streams-per-connection", { flag: whole(), instead: NO_HTTP2 }],
  ["webhook-disable-http2-serving", { flag: toggle(), instead: NO_HTTP2 }],
  [
    "authentication-tolerate-lookup-failure",
    { flag: toggle(), instead: "a look-up that fails is tried again and never ends the process" },
  ],
  ["tls-sni-cert-key", { flag: certificates(), instead: ONE_CERTIFICATE }],
  ["webhook-tls-sni-cert-key", { flag: certificates(), instead: ONE_CERTIFICATE }],
  ["tls-curve-preferences", { flag: curves(), instead: OPENSSL_CURVES }],
  ["webhook-tls-curve-preferences", { flag: curves(), instead: OPENSSL_CURVES }],
  ["permit-address-sharing", { flag: toggle(), instead: NO_SHARING }],
  ["permit-port-sharing", { flag: toggle(), instead: NO_SHARING }],
]);

/** The same by their paths in upstream's configuration file. */
export const unusedPaths: ReadonlyMap<string, UnusedFlag> = new Map(
  [...unusedFlags.values()].flatMap((unused) => (unused.path === undefined ? [] : [[unused.path, unused] as const])),
);

/** What becomes of a flag of upstream's here. */
export type Standing =
  /** Same default, same meaning. */
  | { readonly kind: "same" }
  /** Same name, other default or meaning. */
  | { readonly kind: "mapped"; readonly how: string }
  /** Taken without effect; a warning says what to use. */
  | { readonly kind: "warned"; readonly instead: string };

/** Undefined: the flag is refused. `name` is without dashes. */
export function standingOf(table: Pick<FlagTable<unknown>, "byName">, name: string): Standing | undefined {
  const unused = unusedFlags.get(name);
  if (unused !== undefined) return { kind: "warned", instead: unused.instead };
  const row = table.byName.get(name)?.flag ?? (isCommandFlag(name) ? commandFlags.get(name) : undefined);
  if (row === undefined) return undefined;
  return row.differs === undefined ? { kind: "same" } : { kind: "mapped", how: row.differs };
}
