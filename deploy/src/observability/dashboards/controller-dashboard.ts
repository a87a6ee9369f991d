import type { Dashboard, Row } from "./dashboard.ts";
import {
  ANY_IS_BAD,
  areas,
  JOB,
  JOB_VARIABLE,
  lines,
  names,
  NONE_IS_BAD,
  quantileBy,
  ratesBy,
  REPLICAS,
  SOME_IS_ODD,
  stat,
} from "./queries.ts";

const HEALTHY = "Ready|NoAvailableNodes|DeletionProtected";

const AT_A_GLANCE: Row = {
  title: "At a glance",
  panels: [
    names(["Leader", "The replica that holds the Lease. Without a leader nothing is reconciled."], {
      expr: `leader_election_master_status{${JOB},name="cloud-controller-manager"} == 1`,
      legend: "{{instance}}",
    }),
    stat(["Replicas", "Replicas that Prometheus can scrape."], `sum(up{${JOB}})`, NONE_IS_BAD),
    stat(
      ["Unusable providers", "Providers that at least one replica cannot call."],
      `count(min by (provider) (cloudwire_provider_usable{${JOB}}) == 0) or vector(0)`,
      ANY_IS_BAD,
    ),
    stat(["Nodes", "Nodes that a provider owns."], `sum(max by (provider) (cloudwire_nodes{${JOB},state="owned"}))`),
    stat(
      ["Nodes uninitialized", "Nodes that keep their taint after at least one attempt."],
      `sum(max by (reason) (cloudwire_nodes_uninitialized{${JOB}})) or vector(0)`,
      SOME_IS_ODD,
    ),
    stat(
      ["Deletion circuit breaker", "Providers whose deletion circuit breaker is open, so that no node is deleted."],
      `sum(max by (provider) (cloudwire_node_deletion_circuit_open{${JOB}})) or vector(0)`,
      ANY_IS_BAD,
    ),
    stat(
      ["Services ready", "Services whose load balancer matches their spec."],
      `sum(max by (provider) (cloudwire_services{${JOB},reason="Ready"}))`,
    ),
    stat(
      ["Services waiting", "Services whose load balancer does not match their spec, or not yet."],
      `sum(max by (provider, reason) (cloudwire_services{${JOB},reason!~"${HEALTHY}"})) or vector(0)`,
      SOME_IS_ODD,
    ),
    stat(
      ["Route table", "Usage of the fullest route table."],
      `max(cloudwire_route_quota_used{${JOB}} / cloudwire_route_quota_limit{${JOB}})`,
      [
        { from: 0.8, color: "orange" },
        { from: 0.95, color: "red" },
      ],
      "percentunit",
    ),
    stat(
      ["Configuration rejected", "Replicas that reject their current configuration file."],
      `sum(1 - cloudwire_config_last_reload_successful{${JOB}})`,
      ANY_IS_BAD,
    ),
    stat(
      ["Longest reconcile", "Duration of the oldest reconcile in progress."],
      `max(workqueue_longest_running_processor_seconds{${JOB}})`,
      [
        { from: 60, color: "orange" },
        { from: 180, color: "red" },
      ],
      "s",
    ),
    stat(
      ["Uptime", "Time since the last start of a replica."],
      `time() - max(process_start_time_seconds{${JOB}})`,
      [],
      "dtdurations",
    ),
  ],
};

const NODES: Row = {
  title: "Nodes",
  panels: [
    lines(["Nodes by owner", "Without provider: unowned or undecided, and not changed."], "short", {
      expr: `max by (provider, state) (cloudwire_nodes{${JOB}})`,
      legend: "{{provider}} {{state}}",
    }),
    areas(["Uninitialized by reason", "Nodes that keep their taint, by reason."], "short", {
      expr: `max by (reason) (cloudwire_nodes_uninitialized{${JOB}})`,
      legend: "{{reason}}",
    }),
    lines(
      ["Time to initialize", "From the creation of a Node to the end of its initialization."],
      "s",
      {
        expr: `histogram_quantile(0.5, sum by (le) (node_controller_initial_node_sync_delay_seconds_bucket{${JOB}}))`,
        legend: "50 % since the start",
      },
      {
        expr: `histogram_quantile(0.95, sum by (le) (node_controller_initial_node_sync_delay_seconds_bucket{${JOB}}))`,
        legend: "95 % since the start",
      },
    ),
    areas(["Decisions about lost nodes", "Evaluations of Nodes that are not Ready, by decision."], "ops", {
      expr: ratesBy("decision", "cloudwire_node_deletion_decisions_total", JOB),
      legend: "{{decision}}",
    }),
    lines(
      [
        "Nodes counted by the circuit breaker",
        "Nodes reported as absent or deleted recently. 1: the circuit breaker is open.",
      ],
      "short",
      {
        expr: `max by (provider) (cloudwire_node_deletion_circuit_nodes{${JOB}})`,
        legend: "{{provider}} nodes",
      },
      { expr: `max by (provider) (cloudwire_node_deletion_circuit_open{${JOB}})`, legend: "{{provider}} open" },
    ),
    lines(["Pod CIDRs in use", "Allocated share of each cluster CIDR."], "percentunit", {
      expr: `max by (clusterCIDR) (node_ipam_controller_cidrset_usage_cidrs{${JOB}})`,
      legend: "{{clusterCIDR}}",
    }),
  ],
};

const LOAD_BALANCERS: Row = {
  title: "Load balancers and routes",
  panels: [
    areas(["Services by condition", "Reasons of cloudwire.dev/LoadBalancerReady."], "short", {
      expr: `sum by (reason) (max by (provider, reason) (cloudwire_services{${JOB}}))`,
      legend: "{{reason}}",
    }),
    lines(
      ["Updates of load balancers' nodes", "One per load balancer; failures are retried."],
      "ops",
      {
        expr: `sum(rate(service_controller_loadbalancer_sync_total{${JOB}}[$__rate_interval]))`,
        legend: "all",
      },
      {
        expr: `sum(rate(service_controller_nodesync_error_total{${JOB}}[$__rate_interval]))`,
        legend: "failed",
      },
    ),
    lines(
      ["Routes", "In the cloud's route table, including those of other owners, and its limit."],
      "short",
      {
        expr: `max by (provider) (cloudwire_route_quota_used{${JOB}})`,
        legend: "{{provider}} used",
      },
      { expr: `max by (provider) (cloudwire_route_quota_limit{${JOB}})`, legend: "{{provider}} limit" },
    ),
  ],
};

const QUEUES: Row = {
  title: "Workqueues",
  panels: [
    lines(["Depth", "Queued objects. A queue that is never empty has a backlog."], "short", {
      expr: `max by (name) (workqueue_depth{${JOB}})`,
      legend: "{{name}}",
    }),
    lines(["Queue time, 95 %", "From the request to the start of its processing. The scale ends at 10 s."], "s", {
      expr: quantileBy(0.95, "name", "workqueue_queue_duration_seconds", JOB),
      legend: "{{name}}",
    }),
    lines(["Duration of a reconcile, 95 %", "Most of it is spent in the cloud."], "s", {
      expr: quantileBy(0.95, "controller", "cloudwire_reconcile_duration_seconds", JOB),
      legend: "{{controller}}",
    }),
    areas(
      ["Reconciles by result", "error and retry_after are retried, terminal_error waits for a change, panic is a bug."],
      "ops",
      {
        expr: ratesBy("result", "cloudwire_reconciles_total", JOB),
        legend: "{{result}}",
      },
    ),
    lines(["Retries", "By queue."], "ops", {
      expr: ratesBy("name", "workqueue_retries_total", JOB),
      legend: "{{name}}",
    }),
    lines(["Oldest processing", "Above 180 s a worker is stuck."], "s", {
      expr: `max by (name) (workqueue_longest_running_processor_seconds{${JOB}})`,
      legend: "{{name}}",
    }),
  ],
};

const CLOUD: Row = {
  title: "Calls to providers and clouds",
  panels: [
    lines(["Calls by method", "Sent to providers."], "reqps", {
      expr: ratesBy("method", "cloudwire_provider_call_duration_seconds_count", REPLICAS),
      legend: "{{method}}",
    }),
    areas(["Errors by reason", "Calls that failed, by code and reason of the contract."], "reqps", {
      expr: `sum by (code, reason) (rate(cloudwire_provider_call_duration_seconds_count{${REPLICAS},code!="OK"}[$__rate_interval]))`,
      legend: "{{code}} {{reason}}",
    }),
    lines(["Requests to clouds", "Requests that the calls cause, by kind."], "reqps", {
      expr: ratesBy("provider, kind", "cloudwire_cloud_calls_total", REPLICAS),
      legend: "{{provider}} {{kind}}",
    }),
    lines(["Remaining budget", "Requests that are possible now. Below 0: calls are queued."], "short", {
      expr: `min by (provider, quota_class) (cloudwire_provider_call_budget_tokens{${REPLICAS}})`,
      legend: "{{provider}} {{quota_class}}",
    }),
  ],
};

const API_SERVER: Row = {
  title: "API server",
  panels: [
    areas(["Requests by result", "Of the selected replicas."], "reqps", {
      expr: ratesBy("code", "rest_client_requests_total", REPLICAS),
      legend: "{{code}}",
    }),
    lines(["Latency, 95 %", "By method; for watches, until they start."], "s", {
      expr: quantileBy(0.95, "verb", "rest_client_request_duration_seconds", REPLICAS),
      legend: "{{verb}}",
    }),
    lines(["Objects in caches", "By kind."], "short", {
      expr: `max by (kind) (cloudwire_informer_objects{${REPLICAS}})`,
      legend: "{{kind}}",
    }),
    lines(
      ["Events", "Kubernetes Events written, and those that are queued."],
      "short",
      {
        expr: `sum(rate(cloudwire_events_sent_total{${REPLICAS}}[$__rate_interval]))`,
        legend: "written per second",
      },
      { expr: `sum(cloudwire_events_waiting{${REPLICAS}})`, legend: "queued" },
    ),
  ],
};

const PROCESS: Row = {
  title: "Process",
  panels: [
    lines(["CPU", "Cores in use."], "short", {
      expr: ratesBy("instance", "process_cpu_seconds_total", REPLICAS),
      legend: "{{instance}}",
    }),
    lines(
      ["Memory", "Resident memory, and the part that V8's heap uses."],
      "bytes",
      {
        expr: `process_resident_memory_bytes{${REPLICAS}}`,
        legend: "{{instance}} resident",
      },
      { expr: `nodejs_heap_size_used_bytes{${REPLICAS}}`, legend: "{{instance}} heap" },
    ),
    lines(["Event loop lag, 99 %", "Delay of timers. Above a second the process does not get enough CPU."], "s", {
      expr: `nodejs_eventloop_lag_p99_seconds{${REPLICAS}}`,
      legend: "{{instance}}",
    }),
    lines(["Open files", "Share of the limit."], "percentunit", {
      expr: `process_open_fds{${REPLICAS}} / process_max_fds{${REPLICAS}}`,
      legend: "{{instance}}",
    }),
  ],
};

export const CONTROLLER_DASHBOARD: Dashboard = {
  uid: "cloudwire-controller",
  title: "Cloudwire / Controller",
  description: "State of the cloud-controller-manager, queued work with its causes, and resource usage.",
  variables: [
    JOB_VARIABLE,
    { name: "instance", label: "Replica", query: `label_values(up{${JOB}}, instance)`, isMulti: true },
  ],
  rows: [AT_A_GLANCE, NODES, LOAD_BALANCERS, QUEUES, CLOUD, API_SERVER, PROCESS],
};
