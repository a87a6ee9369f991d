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
      summary: "A controller fails again and again.",
      description:
        "{{ $labels.controller }} has failed more than three times a minute for half an hour. /debug/controllers/NAME lists the keys that fail with their last error.",
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
      summary: "A controller has met a fault of the program.",
      description:
        "{{ $labels.controller }} has broken by a fault of the cloud-controller-manager itself. It was started anew, or tries the object again. The log has a line of level error with the stack: please report it.",
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
      summary: "A worker hangs.",
      description:
        "A worker of queue {{ $labels.name }} has been at one object for {{ $value | humanizeDuration }}, longer than any deadline allows. /debug/controllers/NAME tells the key. A restart of the leader lets another replica take over.",
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
      summary: "A queue does not get empty.",
      description:
        "{{ $value | humanize }} objects have waited in queue {{ $labels.name }}, for a quarter of an hour without pause. Look whether calls to the provider are slow or wait for their budget, and at the number of workers.",
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
      summary: "The configuration file is refused.",
      description:
        "{{ $labels.instance }} refuses its configuration file as it is now and goes on with the one before. A restart would not come up. The log and /statusz list every mistake in it.",
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
      summary: "Kubernetes Events wait to be written.",
      description:
        "{{ $value | humanize }} Events of {{ $labels.instance }} wait; beyond 16,384 they are lost. Users see too late why something is not done. Look at how fast the API server answers, and who makes so many events.",
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
      summary: "A webhook answers with errors.",
      description:
        "Webhook {{ $labels.webhook }} fails. Depending on its failurePolicy, objects are refused or go on without what it would have added. Look at the log of the replica that is asked.",
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
      summary: "The webhooks' certificate expires within a week.",
      description:
        "The serving certificate of the webhooks of {{ $labels.instance }} expires within a week. After that the API server cannot call them. Renew it; a new file is followed without a restart.",
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
      summary: "The API server answers with errors, or not at all.",
      description:
        "{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} to the API server fail. When the Lease cannot be renewed, the leader ends. Look at the API server and at the network to it.",
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
      expr: `sum by (job, method, code) (increase(rest_client_requests_total{${OF_JOB},code=~"401|403"}[10m])) > 0`,
      summary: "The API server refuses requests for want of rights.",
      description:
        "The API server answers {{ $labels.method }} requests with {{ $labels.code }}. The log names verb and resource: apply the role that grants it, or renew the token.",
      trial: {
        series: { [requests("403")]: counter([0, 5], [1, 30], [0, 25]) },
        fault: [5, 35],
        window: 10,
        labels: { method: "GET", code: "403" },
      },
    },
    {
      name: "CloudwireMemoryHigh",
      severity: "warning",
      forMinutes: 30,
      expr: `max by (job, instance) (process_resident_memory_bytes{${OF_JOB}}) > 1073741824`,
      summary: "A replica holds more than 1 GiB of memory.",
      description:
        "{{ $labels.instance }} holds {{ $value | humanize1024 }}B, more than clusters of 5,000 nodes need. Unless it is that large, memory leaks, and the pod will be killed at its limit. Keep a heap snapshot before.",
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
      summary: "A replica has no processor to run on.",
      description:
        "The event loop of {{ $labels.instance }} comes {{ $value | humanizeDuration }} too late. Leases and deadlines are missed. Look at the CPU limit and at what else runs on that machine; /debug/pprof/profile shows what it does itself.",
      trial: {
        series: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': gauge([0.01, 5], [3, 15], [0.01, 10]) },
        fault: [5, 20],
        labels: { instance: "a" },
        value: "3s",
      },
    },
  ],
};
