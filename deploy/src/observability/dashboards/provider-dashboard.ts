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

/** Of the providers that are looked at. */
const OURS = `${JOB},provider=~"$provider"`;

const CALLS = "cloudwire_provider_call_duration_seconds";

const STATE: Row = {
  title: "State",
  panels: [
    stat(
      ["Usable", "1: every replica can call it."],
      { expr: `min by (provider) (cloudwire_provider_usable{${OURS}})`, legend: "{{provider}}" },
      NONE_IS_BAD,
    ),
    names(["Version", "What the provider calls itself, and its version."], {
      expr: `max by (provider, provider_name, version) (cloudwire_provider_info{${OURS}})`,
      legend: "{{provider}}: {{provider_name}} {{version}}",
    }),
    stat(["Nodes", "Nodes that it owns."], {
      expr: `max by (provider) (cloudwire_nodes{${OURS},state="owned"})`,
      legend: "{{provider}}",
    }),
    stat(["Services ready", "Services whose load balancer is as they wish."], {
      expr: `max by (provider) (cloudwire_services{${OURS},reason="Ready"})`,
      legend: "{{provider}}",
    }),
    stat(
      ["Problems", "Things that are wrong with it now."],
      `sum(max by (provider, reason) (cloudwire_provider_problem{${OURS}})) or vector(0)`,
      SOME_IS_ODD,
    ),
    stat(["Calls in flight", "Sent and not answered yet."], {
      expr: `sum by (provider) (cloudwire_provider_calls_in_flight{${OURS}})`,
      legend: "{{provider}}",
    }),
    lines(["Problems by reason", "1 while it lasts. /statusz says more."], "short", {
      expr: `max by (provider, reason) (cloudwire_provider_problem{${OURS}})`,
      legend: "{{provider}} {{reason}}",
    }),
    lines(["Services by condition", "Reasons of cloudwire.dev/LoadBalancerReady."], "short", {
      expr: `max by (provider, reason) (cloudwire_services{${OURS}})`,
      legend: "{{provider}} {{reason}}",
    }),
    lines(
      ["Routes", "In the cloud's route table, and the most it takes."],
      "short",
      { expr: `max by (provider) (cloudwire_route_quota_used{${OURS}})`, legend: "{{provider}} used" },
      { expr: `max by (provider) (cloudwire_route_quota_limit{${OURS}})`, legend: "{{provider}} limit" },
    ),
  ],
};

const CONTRACT: Row = {
  title: "Calls of the contract",
  panels: [
    areas(["Calls by method", "Sent to the provider."], "reqps", {
      expr: ratesBy("method", `${CALLS}_count`, OURS),
      legend: "{{method}}",
    }),
    areas(["Calls by code and reason", "Reasons are in the reference of errors."], "reqps", {
      expr: ratesBy("code, reason", `${CALLS}_count`, OURS),
      legend: "{{code}} {{reason}}",
    }),
    lines(["Share that fails", "Of all calls."], "percentunit", {
      expr: `sum by (provider) (rate(${CALLS}_count{${OURS},code!="OK"}[$__rate_interval])) / sum by (provider) (rate(${CALLS}_count{${OURS}}[$__rate_interval]))`,
      legend: "{{provider}}",
    }),
    lines(["Time of a call, half", "By method."], "s", {
      expr: quantileBy(0.5, "method", CALLS, OURS),
      legend: "{{method}}",
    }),
    lines(["Time of a call, 95 %", "By method."], "s", {
      expr: quantileBy(0.95, "method", CALLS, OURS),
      legend: "{{method}}",
    }),
  ],
};

const BUDGET: Row = {
  title: "The cloud and its budget",
  panels: [
    areas(["Requests to the cloud", "What calls cost there, by method and kind."], "reqps", {
      expr: ratesBy("method, kind", "cloudwire_cloud_calls_total", OURS),
      legend: "{{method}} {{kind}}",
    }),
    lines(["Throttling", "Times that calls were put on hold because the cloud throttled."], "ops", {
      expr: ratesBy("provider, quota_class", "cloudwire_provider_throttle_pauses_total", OURS),
      legend: "{{provider}} {{quota_class}}",
    }),
    lines(
      ["Requests that may be made now", "Below 0: calls wait. The burst is the most there can be."],
      "short",
      {
        expr: `min by (provider, quota_class) (cloudwire_provider_call_budget_tokens{${OURS}})`,
        legend: "{{provider}} {{quota_class}}",
      },
      {
        expr: `max by (provider, quota_class) (cloudwire_provider_call_budget_burst{${OURS}})`,
        legend: "{{provider}} {{quota_class}} burst",
      },
    ),
    lines(["Speed", "Requests a second that are allowed at present: less than declared after a hold."], "reqps", {
      expr: `min by (provider, quota_class) (cloudwire_provider_call_budget_cloud_calls_per_second{${OURS}})`,
      legend: "{{provider}} {{quota_class}}",
    }),
    lines(["Wait for the budget, 95 %", "Before a call is sent, by class and priority."], "s", {
      expr: quantileBy(0.95, "quota_class, priority", "cloudwire_provider_call_wait_seconds", OURS),
      legend: "{{quota_class}} {{priority}}",
    }),
  ],
};

export const PROVIDER_DASHBOARD: Dashboard = {
  uid: "cloudwire-provider",
  title: "Cloudwire / Provider",
  description: "One provider, or all: what it can do now, what its calls cost, and what its cloud says to that.",
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
