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

const WELL = "Ready|NoAvailableNodes|DeletionProtected";

const AT_A_GLANCE: Row = {
  title: "At a glance",
  panels: [
    names(["Leader", "The replica that holds the Lease. None: nothing is worked on."], {
      expr: `leader_election_master_status{${JOB},name="cloud-controller-manager"} == 1`,
      legend: "{{instance}}",
    }),
    stat(["Replicas", "Replicas that answer."], `sum(up{${JOB}})`, NONE_IS_BAD),
    stat(
      ["Providers not usable", "Providers that some replica cannot call."],
      `count(min by (provider) (cloudwire_provider_usable{${JOB}}) == 0) or vector(0)`,
      ANY_IS_BAD,
    ),
    stat(["Nodes", "Nodes that a provider owns."], `sum(max by (provider) (cloudwire_nodes{${JOB},state="owned"}))`),
    stat(
      ["Nodes uninitialized", "Nodes that keep their taint after a first try."],
      `sum(max by (reason) (cloudwire_nodes_uninitialized{${JOB}})) or vector(0)`,
      SOME_IS_ODD,
    ),
    stat(
      ["Deletion brake", "Providers whose nodes are not deleted any more, for too many would go at once."],
      `sum(max by (provider) (cloudwire_node_deletion_circuit_open{${JOB}})) or vector(0)`,
      ANY_IS_BAD,
    ),
    stat(
      ["Services ready", "Services whose load balancer is as they wish."],
      `sum(max by (provider) (cloudwire_services{${JOB},reason="Ready"}))`,
    ),
    stat(
      ["Services waiting", "Services whose load balancer is not, or not yet, as they wish."],
      `sum(max by (provider, reason) (cloudwire_services{${JOB},reason!~"${WELL}"})) or vector(0)`,
      SOME_IS_ODD,
    ),
    stat(
      ["Route table", "How full the fullest route table of a cloud is."],
      `max(cloudwire_route_quota_used{${JOB}} / cloudwire_route_quota_limit{${JOB}})`,
      [
        { from: 0.8, color: "orange" },
        { from: 0.95, color: "red" },
      ],
      "percentunit",
    ),
    stat(
      ["Configuration refused", "Replicas that refuse their configuration file as it is now."],
      `sum(1 - cloudwire_config_last_reload_successful{${JOB}})`,
      ANY_IS_BAD,
    ),
    stat(
      ["Longest reconcile", "How long the oldest reconcile in work has run."],
      `max(workqueue_longest_running_processor_seconds{${JOB}})`,
      [
        { from: 60, color: "orange" },
        { from: 180, color: "red" },
      ],
      "s",
    ),
    stat(
      ["Running for", "Time since the start of the replica that started last."],
      `time() - max(process_start_time_seconds{${JOB}})`,
      [],
      "dtdurations",
    ),
  ],
};

const NODES: Row = {
  title: "Nodes",
  panels: [
    lines(["Nodes by owner", "Without provider: unowned or undecided, and left alone."], "short", {
      expr: `max by (provider, state) (cloudwire_nodes{${JOB}})`,
      legend: "{{provider}} {{state}}",
    }),
    areas(["Uninitialized by reason", "Nodes that keep their taint, by why."], "short", {
      expr: `max by (reason) (cloudwire_nodes_uninitialized{${JOB}})`,
      legend: "{{reason}}",
    }),
    lines(
      ["Time to initialize", "From the creation of a Node to the end of its initialization."],
      "s",
      {
        expr: `histogram_quantile(0.5, sum by (le) (node_controller_initial_node_sync_delay_seconds_bucket{${JOB}}))`,
        legend: "half of all since the start",
      },
      {
        expr: `histogram_quantile(0.95, sum by (le) (node_controller_initial_node_sync_delay_seconds_bucket{${JOB}}))`,
        legend: "95 % of all since the start",
      },
    ),
    areas(["Decisions about lost nodes", "Looks at Nodes that are not Ready, by what came of them."], "ops", {
      expr: ratesBy("decision", "cloudwire_node_deletion_decisions_total", JOB),
      legend: "{{decision}}",
    }),
    lines(
      ["What the brake counts", "Nodes whose machine is said to be gone, and those deleted lately; 1 more: stopped."],
      "short",
      {
        expr: `max by (provider) (cloudwire_node_deletion_circuit_nodes{${JOB}})`,
        legend: "{{provider}} pending",
      },
      { expr: `max by (provider) (cloudwire_node_deletion_circuit_open{${JOB}})`, legend: "{{provider}} stopped" },
    ),
    lines(["Pod ranges in use", "Share of each cluster range that is given away."], "percentunit", {
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
      ["Updates of load balancers' nodes", "Each is one load balancer; failures are tried again."],
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
      ["Routes", "In the cloud's route table, other people's included, and the most it takes."],
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
  title: "Work queues",
  panels: [
    lines(["Depth", "Objects in line. What never gets empty falls behind."], "short", {
      expr: `max by (name) (workqueue_depth{${JOB}})`,
      legend: "{{name}}",
    }),
    lines(["Time in line, 95 %", "From asking for work to its beginning. The scale ends at 10 s."], "s", {
      expr: quantileBy(0.95, "name", "workqueue_queue_duration_seconds", JOB),
      legend: "{{name}}",
    }),
    lines(["Time of a reconcile, 95 %", "Most of it is the cloud's."], "s", {
      expr: quantileBy(0.95, "controller", "cloudwire_reconcile_duration_seconds", JOB),
      legend: "{{controller}}",
    }),
    areas(
      [
        "Reconciles by result",
        "failed and heldOff come back, terminal waits for a change, panicked is a fault of the program.",
      ],
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
    lines(["Oldest work in hand", "Above 180 s a worker hangs."], "s", {
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
    lines(["Requests to clouds", "What the calls cost, by kind."], "reqps", {
      expr: ratesBy("provider, kind", "cloudwire_cloud_calls_total", REPLICAS),
      legend: "{{provider}} {{kind}}",
    }),
    lines(["Budget left", "Requests that may be made at once now. Below 0: calls wait."], "short", {
      expr: `min by (provider, quota_class) (cloudwire_provider_call_budget_tokens{${REPLICAS}})`,
      legend: "{{provider}} {{quota_class}}",
    }),
  ],
};

const API_SERVER: Row = {
  title: "API server",
  panels: [
    areas(["Requests by result", "Of the replicas chosen."], "reqps", {
      expr: ratesBy("code", "rest_client_requests_total", REPLICAS),
      legend: "{{code}}",
    }),
    lines(["Answer time, 95 %", "By method; watches are answered when they begin."], "s", {
      expr: quantileBy(0.95, "verb", "rest_client_request_duration_seconds", REPLICAS),
      legend: "{{verb}}",
    }),
    lines(["Objects in caches", "By kind."], "short", {
      expr: `max by (kind) (cloudwire_informer_objects{${REPLICAS}})`,
      legend: "{{kind}}",
    }),
    lines(
      ["Events", "Kubernetes Events written, and those that wait."],
      "short",
      {
        expr: `sum(rate(cloudwire_events_sent_total{${REPLICAS}}[$__rate_interval]))`,
        legend: "written a second",
      },
      { expr: `sum(cloudwire_events_waiting{${REPLICAS}})`, legend: "waiting" },
    ),
  ],
};

const PROCESS: Row = {
  title: "The process",
  panels: [
    lines(["Processor", "Cores in use."], "short", {
      expr: ratesBy("instance", "process_cpu_seconds_total", REPLICAS),
      legend: "{{instance}}",
    }),
    lines(
      ["Memory", "Resident, and the part of it that V8's heap uses."],
      "bytes",
      {
        expr: `process_resident_memory_bytes{${REPLICAS}}`,
        legend: "{{instance}} resident",
      },
      { expr: `nodejs_heap_size_used_bytes{${REPLICAS}}`, legend: "{{instance}} heap" },
    ),
    lines(["Event loop lag, 99 %", "How late timers run. Above a second there is no processor to run on."], "s", {
      expr: `nodejs_eventloop_lag_p99_seconds{${REPLICAS}}`,
      legend: "{{instance}}",
    }),
    lines(["Open files", "Of those that it may have."], "percentunit", {
      expr: `process_open_fds{${REPLICAS}} / process_max_fds{${REPLICAS}}`,
      legend: "{{instance}}",
    }),
  ],
};

export const CONTROLLER_DASHBOARD: Dashboard = {
  uid: "cloudwire-controller",
  title: "Cloudwire / Controller",
  description: "What the cloud-controller-manager is at, what waits and why, and what it costs.",
  variables: [
    JOB_VARIABLE,
    { name: "instance", label: "Replica", query: `label_values(up{${JOB}}, instance)`, isMulti: true },
  ],
  rows: [AT_A_GLANCE, NODES, LOAD_BALANCERS, QUEUES, CLOUD, API_SERVER, PROCESS],
};
