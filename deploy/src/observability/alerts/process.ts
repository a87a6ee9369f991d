import { type AlertGroup, counter, gauge, OF_JOB } from "../alert.ts";

const WEEK_SECONDS = 604_800;
const MEBIBYTE = 2 ** 20;
const requests = (code: string): string =>
  `rest_client_requests_total{instance="a",code="${code}",method="GET",host="api:6443"}`;

export const PROCESS: AlertGroup = {
  name: "cloudwire-process",
  title: "The process and the API server",
  alerts: [
    {
      name: "CloudwireReconcilesFailing",
      severity: "warning",
      forMinutes: 30,
      expr: `sum by (job, controller) (rate(cloudwire_reconciles_total{${OF_JOB},result=~"error|retry_after|terminal_error"}[10m])) > 0.05`,
      summary: "A controller fails repeatedly.",
      description:
        "{{ $labels.controller }} has failed more than three times a minute for half an hour. /debug/controllers/NAME lists the failing keys with their last error.",
      trial: {
        series: {
          'cloudwire_reconciles_total{instance="a",controller="service-lb-controller",result="error"}': counter(
            [0, 5],
            [12, 60],
            [0, 20],
          ),
        },
        fault: [8, 65],
        window: 10,
        labels: { controller: "service-lb-controller" },
      },
    },
    {
      name: "CloudwireControllerPanic",
      severity: "warning",
      forMinutes: 0,
      expr: `sum by (job, controller) (increase(cloudwire_reconciles_total{${OF_JOB},result="panic"}[15m])) > 0 or sum by (job, controller) (increase(cloudwire_controller_panics_total{${OF_JOB}}[15m])) > 0`,
      summary: "A controller panicked.",
      description:
        "{{ $labels.controller }} panicked because of a bug in the cloud-controller-manager. It was restarted, or retries the object. The log has a line of level error with the stack; please report it.",
      trial: {
        series: {
          'cloudwire_controller_panics_total{instance="a",controller="node-route-controller"}': counter(
            [0, 5],
            [1, 5],
            [0, 30],
          ),
        },
        fault: [6, 10],
        window: 15,
        labels: { controller: "node-route-controller" },
      },
    },
    {
      name: "CloudwireWorkerStuck",
      severity: "critical",
      forMinutes: 2,
      expr: `max by (job, name) (workqueue_longest_running_processor_seconds{${OF_JOB}}) > 180`,
      summary: "A worker is stuck.",
      description:
        "A worker of queue {{ $labels.name }} has processed one object for {{ $value | humanizeDuration }}, longer than any deadline allows. /debug/controllers/NAME has the key. A restart of the leader lets another replica take over.",
      trial: {
        series: {
          'workqueue_longest_running_processor_seconds{instance="a",name="service"}': gauge([0, 5], [600, 15], [0, 10]),
        },
        fault: [5, 20],
        labels: { name: "service" },
        value: "10m 0s",
      },
    },
    {
      name: "CloudwireWorkqueueBacklog",
      severity: "warning",
      forMinutes: 15,
      expr: `max by (job, name) (workqueue_depth{${OF_JOB}}) > 100`,
      summary: "A workqueue has a backlog.",
      description:
        "{{ $value | humanize }} objects are queued in {{ $labels.name }}, which has not been empty for a quarter of an hour. Check whether calls to the provider are slow or rate limited, and the number of workers.",
      trial: {
        series: { 'workqueue_depth{instance="a",name="service"}': gauge([0, 5], [400, 25], [0, 10]) },
        fault: [5, 30],
        labels: { name: "service" },
        value: "400",
      },
    },
    {
      name: "CloudwireConfigRejected",
      severity: "warning",
      forMinutes: 5,
      expr: `min by (job, instance) (cloudwire_config_last_reload_successful{${OF_JOB}}) == 0`,
      summary: "The configuration file is invalid.",
      description:
        "{{ $labels.instance }} rejects its current configuration file and uses the previous settings. After a restart it would not start. The log and /statusz list all errors.",
      trial: {
        series: { 'cloudwire_config_last_reload_successful{instance="a"}': gauge([1, 5], [0, 15], [1, 10]) },
        fault: [5, 20],
        labels: { instance: "a" },
      },
    },
    {
      name: "CloudwireEventsWaiting",
      severity: "warning",
      forMinutes: 10,
      expr: `max by (job, instance) (cloudwire_events_waiting{${OF_JOB}}) > 1000`,
      summary: "Kubernetes Events are queued.",
      description:
        "{{ $value | humanize }} Events of {{ $labels.instance }} are queued; beyond 16,384 they are dropped. Users see too late why something is not done. Check the latency of the API server, and the source of the events.",
      trial: {
        series: { 'cloudwire_events_waiting{instance="a"}': gauge([0, 5], [5000, 15], [0, 10]) },
        fault: [5, 20],
        labels: { instance: "a" },
        value: "5k",
      },
    },
    {
      name: "CloudwireWebhookErrors",
      severity: "warning",
      forMinutes: 10,
      expr: `sum by (job, webhook) (rate(cloud_provider_webhook_request_total{${OF_JOB},code=~"5.."}[5m])) > 0`,
      summary: "A webhook fails.",
      description:
        "Webhook {{ $labels.webhook }} responds with errors. Depending on its failurePolicy, objects are rejected or admitted without its changes. Check the log of the replica that the API server calls.",
      trial: {
        series: {
          'cloud_provider_webhook_request_total{instance="a",webhook="persistent-volume-label",code="500"}': counter(
            [0, 5],
            [2, 20],
            [0, 20],
          ),
        },
        fault: [5, 25],
        window: 5,
        labels: { webhook: "persistent-volume-label" },
      },
    },
    {
      name: "CloudwireWebhookCertificateExpires",
      severity: "warning",
      forMinutes: 0,
      expr: `min by (job, instance) (cloudwire_webhook_certificate_expiration_timestamp_seconds{${OF_JOB}}) - time() < 604800`,
      summary: "The serving certificate of the webhooks expires within a week.",
      description:
        "The serving certificate of the webhooks of {{ $labels.instance }} expires within a week. After that the API server cannot call them. Renew it; a changed file is reloaded without a restart.",
      trial: {
        series: {
          'cloudwire_webhook_certificate_expiration_timestamp_seconds{instance="a"}': gauge(
            [WEEK_SECONDS + 600, 20],
            [WEEK_SECONDS * 2, 20],
          ),
        },
        fault: [11, 20],
        labels: { instance: "a" },
      },
    },
    {
      name: "CloudwireAPIServerCallsFailing",
      severity: "warning",
      forMinutes: 15,
      expr: `sum by (job, instance) (rate(rest_client_requests_total{${OF_JOB},code=~"5..|<error>"}[5m])) / sum by (job, instance) (rate(rest_client_requests_total{${OF_JOB}}[5m])) > 0.05`,
      summary: "Requests to the API server fail.",
      description:
        "{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} to the API server fail. If the Lease cannot be renewed, the leader exits. Check the API server and the network.",
      trial: {
        series: {
          [requests("503")]: counter([0, 5], [30, 30], [0, 20]),
          [requests("200")]: counter([30, 55]),
        },
        fault: [6, 35],
        window: 5,
        labels: { instance: "a" },
        value: "50%",
      },
    },
    {
      name: "CloudwireAPIServerForbidden",
      severity: "warning",
      forMinutes: 10,
      expr: `sum by (job, method, reason) (increase(cloudwire_apiserver_denied_calls_total{${OF_JOB}}[10m])) > 0`,
      summary: "The API server denies requests.",
      description:
        "The API server denies {{ $labels.method }} requests: {{ $labels.reason }}. The log names the verb and the resource. Apply the role that grants them, or renew the token.",
      trial: {
        series: {
          'cloudwire_apiserver_denied_calls_total{instance="a",method="GET",reason="forbidden"}': counter(
            [0, 5],
            [1, 30],
            [0, 25],
          ),
        },
        fault: [5, 35],
        window: 10,
        labels: { method: "GET", reason: "forbidden" },
      },
    },
    {
      name: "CloudwireMemoryHigh",
      severity: "warning",
      forMinutes: 30,
      expr: `max by (job, instance) (process_resident_memory_bytes{${OF_JOB}}) > 1073741824`,
      summary: "A replica uses more than 1 GiB of memory.",
      description:
        "{{ $labels.instance }} uses {{ $value | humanize1024 }}B, more than a cluster of 5,000 nodes needs. In a smaller cluster this is a memory leak, and the pod will be killed at its limit. Save a heap snapshot before.",
      trial: {
        series: {
          'process_resident_memory_bytes{instance="a"}': gauge([200 * MEBIBYTE, 5], [2048 * MEBIBYTE, 40], [0, 10]),
        },
        fault: [5, 45],
        labels: { instance: "a" },
        value: "2Gi",
      },
    },
    {
      name: "CloudwireEventLoopLag",
      severity: "warning",
      forMinutes: 10,
      expr: `max by (job, instance) (nodejs_eventloop_lag_p99_seconds{${OF_JOB}}) > 1`,
      summary: "A replica does not get enough CPU.",
      description:
        "The event loop of {{ $labels.instance }} lags by {{ $value | humanizeDuration }}. Leases and deadlines are missed. Check the CPU limit and the load of the machine; /debug/pprof/profile shows the CPU usage of the replica itself.",
      trial: {
        series: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': gauge([0.01, 5], [3, 15], [0.01, 10]) },
        fault: [5, 20],
        labels: { instance: "a" },
        value: "3s",
      },
    },
  ],
};
