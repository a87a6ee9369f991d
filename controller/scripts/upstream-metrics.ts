import { readFileSync } from "node:fs";
import type { MetricFamily } from "../src/telemetry/metrics.ts";
import { isRecord, type JsonRecord } from "../src/util/json.ts";

/** A family of upstream's cloud-controller-manager. */
export type UpstreamFamily = Omit<MetricFamily, "help">;

/** What a scrape does not show before something happens, from upstream's sources v0.37.2. */
const UNSCRAPED: readonly UpstreamFamily[] = [
  { name: "leader_election_slowpath_total", kind: "counter", labels: ["name"], buckets: [] },
  { name: "rest_client_request_retries_total", kind: "counter", labels: ["code", "verb", "host"], buckets: [] },
  { name: "cloud_provider_webhook_request_total", kind: "counter", labels: ["code", "webhook"], buckets: [] },
  {
    name: "cloud_provider_webhook_request_duration_seconds",
    kind: "histogram",
    labels: ["code", "webhook"],
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  },
  {
    name: "rest_client_dns_resolution_duration_seconds",
    kind: "histogram",
    labels: ["host"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30],
  },
  { name: "rest_client_exec_plugin_call_total", kind: "counter", labels: ["code", "call_status"], buckets: [] },
  { name: "authentication_token_cache_request_total", kind: "counter", labels: ["status"], buckets: [] },
  { name: "apiserver_delegated_authn_request_total", kind: "counter", labels: ["code"], buckets: [] },
  { name: "apiserver_delegated_authz_request_total", kind: "counter", labels: ["code"], buckets: [] },
];

/** Every family, by name; Go's own left out. upstream-metrics.json is a scrape: test/suites/telemetry/upstream-metrics.parity.test.ts compares it with the real binary. */
export const UPSTREAM_FAMILIES: readonly UpstreamFamily[] = [...scraped(), ...UNSCRAPED].toSorted((left, right) =>
  left.name.localeCompare(right.name, "en"),
);

function scraped(): readonly UpstreamFamily[] {
  const parsed: unknown = JSON.parse(readFileSync(new URL("upstream-metrics.json", import.meta.url), "utf8"));
  if (!Array.isArray(parsed)) throw new Error("upstream-metrics.json is not a list");
  return parsed.map((item: unknown) => family(isRecord(item) ? item : {}));
}

function family({ name, kind, labels, buckets }: JsonRecord): UpstreamFamily {
  if (typeof name !== "string" || (kind !== "counter" && kind !== "gauge" && kind !== "histogram"))
    throw new Error(`upstream-metrics.json has a family without name or kind: ${String(name)}`);
  return { name, kind, labels: list(labels).map(String), buckets: list(buckets).map(Number) };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What counts otherwise under upstream's name, or has other labels. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  authentication_attempts: "a token that cannot be reviewed counts as `failure`; `error` does not exist",
  authentication_duration_seconds: "as `authentication_attempts`",
  authorization_attempts_total: "`denied` instead of `no-opinion`",
  authorization_duration_seconds: "as `authorization_attempts_total`",
  cloud_node_lifecycle_controller_cloud_provider_calls_total:
    "one lookup has the results of both operations, and lookups share cloud calls; no `instance_metadata`",
  cloud_node_lifecycle_controller_monitor_nodes_duration_seconds:
    "of one Node that is not Ready; upstream's is one pass over all Nodes, also if all are Ready",
  cloud_provider_webhook_request_duration_seconds: "counts all requests; upstream counts only failures",
  cloud_provider_webhook_request_total: "counts all requests; upstream counts only failures",
  kubernetes_build_info: "of this program: no `git_commit`, `git_tree_state`, `build_date`, `go_version`, `compiler`",
  kubernetes_healthcheck: "the value at the time of the scrape, not at the last health request; other checks",
  node_controller_cloud_provider_taint_removal_delay_seconds:
    "observed at the same time as the other one, because the taint is removed last",
  process_start_time_seconds: "in whole seconds; only at `/metrics`",
  route_controller_route_sync_total:
    "`node_change` is a reconcile of one Node, not of the cluster; a failed change is an `error`, not a `noop`",
  service_controller_nodesync_error_total:
    "counts failed updates of one load balancer; upstream counts Services per pass",
  service_controller_nodesync_latency_seconds:
    "from the change of nodes until all load balancers were tried; upstream measures one pass, including empty ones",
  workqueue_depth: "also has other queues; queue `service` includes the work of upstream's `node`",
};

/** Why a family of upstream's is not here; a name that ends in `*` stands for all that begin so. */
export const ABSENT: Readonly<Record<string, string>> = {
  "aggregator_*": "from the API server's library; always 0",
  "apiserver_*":
    "from the API server's library, mostly 0; requests to the API server for authentication and authorization are in `rest_client_requests_total`",
  authenticated_user_requests: "user names would be unbounded label values; `-v=4` logs rejected users",
  "authentication_token_cache_*": "requests that are not cached are in `rest_client_requests_total`",
  "cardinality_enforcement_*": "no such limit: labels have few values, or names from the configuration",
  disabled_metrics_total: "metrics cannot be disabled",
  hidden_metrics_total: "no metric is hidden",
  registered_metrics_total: "see this page",
  "process_network_*":
    "not reported by the library; they are per network namespace, so the kubelet's metrics of the pod have them",
  process_virtual_memory_max_bytes: "not reported by the library",
  rest_client_dns_resolution_duration_seconds: "part of `rest_client_request_duration_seconds`",
  "rest_client_exec_plugin_*": "the duration of plugins is not measured; their failures are in the log",
  "rest_client_transport_*": "internal state of Go's client",
};
