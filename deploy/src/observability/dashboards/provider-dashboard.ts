import type { Dashboard, Row } from "./dashboard.ts";
import {
  areas,
  JOB,
  JOB_VARIABLE,
  lines,
  names,
  NONE_IS_BAD,
  quantileBy,
  ratesBy,
  SOME_IS_ODD,
  stat,
} from "./queries.ts";

/** Of the selected providers. */
const SELECTED = `${JOB},provider=~"$provider"`;

const CALLS = "cloudwire_provider_call_duration_seconds";

const STATE: Row = {
  title: "State",
  panels: [
    stat(
      ["Usable", "1: every replica can call it."],
      { expr: `min by (provider) (cloudwire_provider_usable{${SELECTED}})`, legend: "{{provider}}" },
      NONE_IS_BAD,
    ),
    names(["Version", "Name and version that the provider reports."], {
      expr: `max by (provider, provider_name, version) (cloudwire_provider_info{${SELECTED}})`,
      legend: "{{provider}}: {{provider_name}} {{version}}",
    }),
    stat(["Nodes", "Nodes that it owns."], {
      expr: `max by (provider) (cloudwire_nodes{${SELECTED},state="owned"})`,
      legend: "{{provider}}",
    }),
    stat(["Services ready", "Services whose load balancer matches their spec."], {
      expr: `max by (provider) (cloudwire_services{${SELECTED},reason="Ready"})`,
      legend: "{{provider}}",
    }),
    stat(
      ["Problems", "Current problems."],
      `sum(max by (provider, reason) (cloudwire_provider_problem{${SELECTED}})) or vector(0)`,
      SOME_IS_ODD,
    ),
    stat(["Calls in flight", "Calls in progress."], {
      expr: `sum by (provider) (cloudwire_provider_calls_in_flight{${SELECTED}})`,
      legend: "{{provider}}",
    }),
    lines(["Problems by reason", "1 while it lasts. /statusz has the details."], "short", {
      expr: `max by (provider, reason) (cloudwire_provider_problem{${SELECTED}})`,
      legend: "{{provider}} {{reason}}",
    }),
    lines(["Services by condition", "Reasons of cloudwire.dev/LoadBalancerReady."], "short", {
      expr: `max by (provider, reason) (cloudwire_services{${SELECTED}})`,
      legend: "{{provider}} {{reason}}",
    }),
    lines(
      ["Routes", "In the cloud's route table, and its limit."],
      "short",
      { expr: `max by (provider) (cloudwire_route_quota_used{${SELECTED}})`, legend: "{{provider}} used" },
      { expr: `max by (provider) (cloudwire_route_quota_limit{${SELECTED}})`, legend: "{{provider}} limit" },
    ),
  ],
};

const CONTRACT: Row = {
  title: "Calls to the provider",
  panels: [
    areas(["Calls by method", "Sent to the provider."], "reqps", {
      expr: ratesBy("method", `${CALLS}_count`, SELECTED),
      legend: "{{method}}",
    }),
    areas(["Calls by code and reason", "Reasons are in the errors reference."], "reqps", {
      expr: ratesBy("code, reason", `${CALLS}_count`, SELECTED),
      legend: "{{code}} {{reason}}",
    }),
    lines(["Failure ratio", "Of all calls."], "percentunit", {
      expr: `sum by (provider) (rate(${CALLS}_count{${SELECTED},code!="OK"}[$__rate_interval])) / sum by (provider) (rate(${CALLS}_count{${SELECTED}}[$__rate_interval]))`,
      legend: "{{provider}}",
    }),
    lines(["Latency of calls, 50 %", "By method."], "s", {
      expr: quantileBy(0.5, "method", CALLS, SELECTED),
      legend: "{{method}}",
    }),
    lines(["Latency of calls, 95 %", "By method."], "s", {
      expr: quantileBy(0.95, "method", CALLS, SELECTED),
      legend: "{{method}}",
    }),
  ],
};

const BUDGET: Row = {
  title: "Cloud and call budget",
  panels: [
    areas(["Requests to the cloud", "Requests that calls cause, by method and kind."], "reqps", {
      expr: ratesBy("method, kind", "cloudwire_cloud_calls_total", SELECTED),
      legend: "{{method}} {{kind}}",
    }),
    lines(["Throttling", "Pauses of calls because the cloud throttled."], "ops", {
      expr: ratesBy("provider, quota_class", "cloudwire_provider_throttle_pauses_total", SELECTED),
      legend: "{{provider}} {{quota_class}}",
    }),
    lines(
      ["Remaining budget", "Requests that are possible now, up to the burst. Below 0: calls are queued."],
      "short",
      {
        expr: `min by (provider, quota_class) (cloudwire_provider_call_budget_tokens{${SELECTED}})`,
        legend: "{{provider}} {{quota_class}}",
      },
      {
        expr: `max by (provider, quota_class) (cloudwire_provider_call_budget_burst{${SELECTED}})`,
        legend: "{{provider}} {{quota_class}} burst",
      },
    ),
    lines(["Rate limit", "Current requests per second: less than declared after a pause."], "reqps", {
      expr: `min by (provider, quota_class) (cloudwire_provider_call_budget_cloud_calls_per_second{${SELECTED}})`,
      legend: "{{provider}} {{quota_class}}",
    }),
    lines(["Queue time for the budget, 95 %", "Before a call is sent, by quota class and priority."], "s", {
      expr: quantileBy(0.95, "quota_class, priority", "cloudwire_provider_call_wait_seconds", SELECTED),
      legend: "{{quota_class}} {{priority}}",
    }),
  ],
};

export const PROVIDER_DASHBOARD: Dashboard = {
  uid: "cloudwire-provider",
  title: "Cloudwire / Provider",
  description: "One or all providers: state, cost of calls, and throttling by the cloud.",
  variables: [
    JOB_VARIABLE,
    {
      name: "provider",
      label: "Provider",
      query: `label_values(cloudwire_provider_usable{${JOB}}, provider)`,
      isMulti: true,
    },
  ],
  rows: [STATE, CONTRACT, BUDGET],
};
