import { auditFlags } from "../telemetry/options.ts";
import { boolFlag, choiceFlag, durationFlag, type Flag, listFlag, numberFlag, stringFlag } from "../options/flag.ts";
import { modeFlags } from "../observe/mode-flags.ts";
import { nodeIpamFlags } from "../controllers/node-ipam/node-ipam-flags.ts";
import { servingFlags } from "../server/options.ts";
import { recordingFlags } from "../telemetry/recording-flags.ts";
import { providerCallRateFlag } from "../provider/provider-call-rate-flag.ts";
import { providerFlag } from "../provider/provider-flag.ts";
import { providerTlsFlag } from "../provider/provider-tls-flag.ts";
import { providerSelectorFlag } from "../provider/provider-selector-flag.ts";
import { webhookFlags } from "../server/webhooks/webhook-flags.ts";

/**
 * Every setting of the daemon. The flag's name is the key in kebab case. Names, meanings and defaults are those of upstream's
 * options/options.go and k8s.io/controller-manager/options v0.36.3, unless the row says in `differs` why not.
 */
export const flags = {
  config: stringFlag({
    group: "configuration",
    valueName: "file",
    help: "YAML file of kind CloudControllerManagerConfiguration; what the command line or the environment says takes precedence",
  }),

  ...modeFlags,

  provider: providerFlag,
  providerTls: providerTlsFlag,
  providerPlaintext: listFlag({
    group: "provider",
    valueName: "name[,name]",
    defaultValue: [],
    help: "providers at tcp:// addresses to be called without TLS: whoever can reach one, or is on the way, can change the cloud; for development",
  }),
  providerNodeSelector: providerSelectorFlag,
  providerCallRate: providerCallRateFlag,
  defaultLoadBalancerProvider: stringFlag({
    group: "provider",
    valueName: "name",
    help: "provider of Services without loadBalancerClass; empty: the first --provider",
  }),

  kubeconfig: stringFlag({
    group: "kubernetes",
    valueName: "file",
    help: "kubeconfig with the API server's address and credentials; empty: the pod's service account",
  }),
  master: stringFlag({
    group: "kubernetes",
    valueName: "url",
    help: "address of the API server, in the place of the one in the kubeconfig",
  }),
  kubeApiQps: numberFlag({
    group: "kubernetes",
    valueName: "number",
    defaultValue: 0,
    min: 0,
    whole: false,
    help: "calls a second to the API server, watches not counted; 0: no limit of our own",
    differs: "20 a second hides what the API server can take, which limits its clients fairly by itself today",
  }),
  kubeApiBurst: numberFlag({
    group: "kubernetes",
    valueName: "number",
    defaultValue: 30,
    min: 1,
    whole: true,
    help: "calls that may exceed --kube-api-qps for a moment",
  }),

  controllers: listFlag({
    group: "controllers",
    valueName: "name,-name,*",
    defaultValue: ["*"],
    help: "controllers to run: a name turns one on, -name turns it off, * means all that are on by default",
    differs: "there are further controllers, and node-ipam-controller has to be named",
  }),
  clusterName: stringFlag({
    group: "controllers",
    valueName: "name",
    defaultValue: "kubernetes",
    help: "name of the cluster, given to providers for people to read; identity is the UID of the namespace kube-system",
  }),
  clusterCidr: stringFlag({
    group: "controllers",
    valueName: "cidr[,cidr]",
    help: "range of all pods, or one of each IP family; empty: routes to nodes' pod ranges are not managed",
    differs: "empty turns the routes off, where upstream's process ends as soon as the provider serves routes",
  }),
  ...nodeIpamFlags,
  configureCloudRoutes: boolFlag({
    group: "controllers",
    defaultValue: true,
    help: "manage routes to nodes' pod ranges, where the provider serves routes and --cluster-cidr is given",
  }),
  routeReconciliationPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 1000,
    help: "how often all routes are listed and compared; the provider may ask for longer",
    differs:
      "upstream sees changes no other way; here nodes wake the controller, and the list finds what others changed",
  }),
  concurrentNodeSyncs: numberFlag({
    group: "controllers",
    valueName: "number",
    defaultValue: 64,
    min: 1,
    max: 1000,
    whole: true,
    help: "nodes written at once; many more are looked up together",
    differs: "it limits writes alone: look-ups share cloud calls",
  }),
  concurrentServiceSyncs: numberFlag({
    group: "controllers",
    valueName: "number",
    defaultValue: 64,
    min: 1,
    max: 1000,
    whole: true,
    help: "Services of one provider worked on at once; the provider's own limit holds as well",
    differs: "1 is for clouds that take no more; here the provider says what its cloud takes",
  }),
  loadBalancerDriftPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 600_000,
    min: 0,
    help: "how often it is checked whether load balancers were changed at the cloud by others; the provider may ask for longer, 0 turns it off",
  }),
  adoptLoadBalancers: boolFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: false,
    help: "let Services take over load balancers that exist, whoever made them: the one that annotation service.cloudwire.dev/adopt-load-balancer names. Whoever may write a Service may then take any load balancer of the cloud account",
  }),
  nodeStatusUpdateFrequency: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 300_000,
    min: 10_000,
    help: "how often what the cloud says of every node is read again",
  }),
  nodeTopologyPolicy: choiceFlag({
    group: "controllers",
    choices: ["warn", "follow", "once"],
    defaultValue: "warn",
    help: "zone and region labels when a machine has moved: left alone and told, set to what the cloud says, or left alone in silence",
  }),
  nodeMonitorPeriod: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 5000,
    min: 1000,
    help: "how soon a node that is not ready is looked up at the cloud again; looks become rarer while nothing changes",
    differs: "looks become rarer while nothing changes, and a node is deleted only after several of them",
  }),
  nodeDeletionConfirmations: numberFlag({
    group: "controllers",
    reloadable: true,
    valueName: "number",
    defaultValue: 2,
    min: 2,
    max: 100,
    whole: true,
    help: "times in a row the cloud must call a machine absent before its node is deleted",
  }),
  nodeDeletionSpan: durationFlag({
    group: "controllers",
    reloadable: true,
    defaultValue: 30_000,
    min: 1000,
    help: "least time from the first of these times to the last; also the longest between two looks at a node that is not ready",
  }),
  nodeDeletionMaxPercent: numberFlag({
    group: "controllers",
    reloadable: true,
    valueName: "percent",
    defaultValue: 10,
    min: 0,
    max: 100,
    whole: true,
    help: "share of a provider's nodes that may be deleted within 10 minutes without being released, but 3 always may",
  }),

  leaderElect: boolFlag({
    group: "leader election",
    defaultValue: true,
    help: "work only while holding the Lease, so that several replicas may run",
  }),
  leaderElectLeaseDuration: durationFlag({
    group: "leader election",
    defaultValue: 15_000,
    min: 1000,
    help: "how long others wait after the last renewal before they take over",
  }),
  leaderElectRenewDeadline: durationFlag({
    group: "leader election",
    defaultValue: 10_000,
    min: 500,
    help: "how long the leader tries to renew before it gives up and exits",
  }),
  leaderElectRetryPeriod: durationFlag({
    group: "leader election",
    defaultValue: 2000,
    min: 100,
    help: "how long to wait between two tries to acquire or renew",
  }),
  leaderElectResourceName: stringFlag({
    group: "leader election",
    valueName: "name",
    defaultValue: "cloud-controller-manager",
    help: "name of the Lease",
  }),
  leaderElectResourceNamespace: stringFlag({
    group: "leader election",
    valueName: "namespace",
    defaultValue: "kube-system",
    help: "namespace of the Lease",
  }),
  leaderElectProviderTimeout: durationFlag({
    group: "leader election",
    defaultValue: 60_000,
    min: 0,
    help: "how long the leader goes on without one of its providers before it makes way for a replica that can use it, if there is one; 0 turns it off",
  }),
  enableLeaderMigration: boolFlag({
    group: "leader election",
    defaultValue: false,
    help: "lead controllers that move between two programs under a second Lease (KEP-2436)",
  }),
  leaderMigrationConfig: stringFlag({
    group: "leader election",
    valueName: "file",
    help: "LeaderMigrationConfiguration that says which controllers move and who runs them; empty: those that left kube-controller-manager",
    differs: "empty knows the present names of the controllers as well",
  }),

  ...servingFlags,
  healthAddress: stringFlag({
    group: "serving",
    valueName: "host:port",
    help: "where /healthz, /livez, /readyz and /metrics are served in plain HTTP to whoever asks, such as 127.0.0.1:10268; port 0 picks one, empty: nowhere",
  }),
  ...webhookFlags,

  v: numberFlag({
    group: "logging",
    reloadable: true,
    valueName: "level",
    defaultValue: 0,
    min: 0,
    whole: true,
    help: "how much detail to log: 2 steady state, 4 decisions, 6 calls",
  }),
  loggingFormat: choiceFlag({
    group: "logging",
    choices: ["text", "json"],
    defaultValue: "text",
    help: "how log lines are written to standard error",
    differs: "json is always there",
  }),
  ...auditFlags,
  ...recordingFlags,
  tracingConfigFile: stringFlag({
    group: "tracing",
    valueName: "file",
    help: "kube-apiserver's TracingConfiguration: where traces go and how many; empty: as OpenTelemetry's variables OTEL_… say, none without them",
  }),
} as const;

type Flags = typeof flags;

/** The settings of one run. Durations are in milliseconds. */
export type Options = { readonly [Name in keyof Flags]: Flags[Name] extends Flag<infer Value> ? Value : never };

/** `concurrentNodeSyncs` to `concurrent-node-syncs`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
