import { type AlertGroup, counter, gauge, OF_JOB } from "../alert.ts";

const problem = (reason: string): Readonly<Record<string, string>> => ({
  [`cloudwire_provider_problem{instance="a",provider="p",reason="${reason}"}`]: gauge([0, 5], [1, 15], [0, 10]),
});

const calls = (code: string): string =>
  `cloudwire_provider_call_duration_seconds_count{instance="a",provider="p",method="GetInstances",code="${code}",reason=""}`;

const DAY_SECONDS = 86_400;

/** An expiration time that is renewed at the end. The clock of a trial starts in 1970. */
const until = (aheadSeconds: number): string => gauge([aheadSeconds + 600, 20], [aheadSeconds * 3, 20]);

export const PROVIDERS: AlertGroup = {
  name: "cloudwire-providers",
  title: "Providers and their clouds",
  alerts: [
    {
      name: "CloudwireProviderUnusable",
      severity: "critical",
      forMinutes: 5,
      expr: `min by (job, instance, provider) (cloudwire_provider_usable{${OF_JOB}}) == 0`,
      summary: "A provider cannot be called.",
      description:
        "{{ $labels.instance }} cannot call provider {{ $labels.provider }}; /statusz of that replica has the reason. Check that the provider's container runs and listens.",
      trial: {
        series: {
          'cloudwire_provider_usable{instance="a",provider="p"}': gauge([1, 5], [0, 15], [1, 10]),
          'cloudwire_provider_usable{instance="a",provider="q"}': gauge([1, 30]),
        },
        fault: [5, 20],
        labels: { instance: "a", provider: "p" },
      },
    },
    {
      name: "CloudwireProviderHandshakeFailed",
      severity: "critical",
      forMinutes: 5,
      expr: `max by (job, provider, reason) (cloudwire_provider_problem{${OF_JOB},reason=~"UnsupportedContract|InvalidHandshake|HandshakeFailed|NotGRPC|NotTLS|NotASocket|Certificate.+|ClientCertificateRejected"}) == 1`,
      summary: "The handshake with a provider fails.",
      description:
        "Provider {{ $labels.provider }} is running but cannot be used: {{ $labels.reason }}. This does not resolve automatically. Check the versions of both sides, the path of the socket and the certificates.",
      trial: {
        series: { ...problem("UnsupportedContract") },
        fault: [5, 20],
        labels: { provider: "p", reason: "UnsupportedContract" },
      },
    },
    {
      name: "CloudwireProviderScopeChanged",
      severity: "critical",
      forMinutes: 1,
      expr: `max by (job, provider) (cloudwire_provider_problem{${OF_JOB},reason="ScopeChanged"}) == 1`,
      summary: "A provider uses another account than before.",
      description:
        "Provider {{ $labels.provider }} now uses another scope than its nodes and load balancers are in. Changes are paused. Fix its credentials, or confirm the new scope.",
      trial: { series: problem("ScopeChanged"), fault: [5, 20], labels: { provider: "p" } },
    },
    {
      name: "CloudwireCloudNotReady",
      severity: "critical",
      forMinutes: 10,
      expr: `max by (job, provider, reason) (cloudwire_provider_problem{${OF_JOB},reason=~"CloudNotReady|StatusUnknown"}) == 1`,
      summary: "A provider reports that its cloud cannot be used.",
      description:
        "Provider {{ $labels.provider }} reports {{ $labels.reason }}. No node is deleted until it recovers; new nodes and load balancers wait. /statusz has the provider's message. Check for invalid credentials, network problems, or a cloud outage.",
      trial: {
        series: problem("CloudNotReady"),
        fault: [5, 20],
        labels: { provider: "p", reason: "CloudNotReady" },
      },
    },
    {
      name: "CloudwireCredentialsInvalid",
      severity: "critical",
      forMinutes: 5,
      expr: `sum by (job, provider, code) (rate(cloudwire_provider_call_duration_seconds_count{${OF_JOB},code=~"UNAUTHENTICATED|PERMISSION_DENIED"}[5m])) > 0`,
      summary: "The cloud rejects a provider's credentials.",
      description:
        "Calls to provider {{ $labels.provider }} fail with {{ $labels.code }}. Renew the credentials in its Secret, or grant its cloud identity the permission that the provider's log names.",
      trial: {
        series: { [calls("PERMISSION_DENIED")]: counter([0, 5], [2, 15], [0, 20]), [calls("OK")]: counter([5, 40]) },
        fault: [5, 20],
        window: 5,
        labels: { provider: "p", code: "PERMISSION_DENIED" },
      },
    },
    {
      name: "CloudwireProviderCallsFailing",
      severity: "warning",
      forMinutes: 15,
      expr: `sum by (job, provider) (rate(cloudwire_provider_call_duration_seconds_count{${OF_JOB},code!="OK"}[10m])) / sum by (job, provider) (rate(cloudwire_provider_call_duration_seconds_count{${OF_JOB}}[10m])) > 0.2`,
      summary: "Many calls to a provider fail.",
      description:
        "{{ $value | humanizePercentage }} of the calls to provider {{ $labels.provider }} failed within ten minutes. The dashboard shows them by code and reason; the provider's log has the errors of the cloud.",
      trial: {
        series: { [calls("UNAVAILABLE")]: counter([0, 5], [10, 30], [0, 25]), [calls("OK")]: counter([10, 60]) },
        fault: [7, 35],
        window: 10,
        labels: { provider: "p" },
        value: "50%",
      },
    },
    {
      name: "CloudwireInstanceStateUnknown",
      severity: "warning",
      forMinutes: 15,
      expr: `sum by (job) (increase(cloudwire_node_deletion_decisions_total{${OF_JOB},decision="unknown"}[10m])) > 0`,
      summary: "The state of the instances of lost nodes is unknown.",
      description:
        "{{ $value | humanize }} evaluations of nodes that are not ready within ten minutes could not determine whether the instance exists. Such nodes are not deleted, and pods on them are stuck. Check the provider's log.",
      trial: {
        series: {
          'cloudwire_node_deletion_decisions_total{instance="a",decision="unknown"}': counter([0, 5], [6, 35], [0, 20]),
        },
        fault: [5, 40],
        window: 10,
        labels: {},
        value: "60",
      },
    },
    {
      name: "CloudwireProviderCredentialsExpire",
      severity: "warning",
      forMinutes: 0,
      expr: `min by (job, provider) (cloudwire_provider_credentials_expiration_timestamp_seconds{${OF_JOB}}) - time() < 86400`,
      summary: "A provider's cloud credentials expire within a day.",
      description:
        "The credentials of provider {{ $labels.provider }} expire within a day and have not been renewed. After that its cloud rejects every call. Renew them.",
      trial: {
        series: {
          'cloudwire_provider_credentials_expiration_timestamp_seconds{instance="a",provider="p"}': until(DAY_SECONDS),
        },
        fault: [11, 20],
        labels: { provider: "p" },
      },
    },
    {
      name: "CloudwireProviderClientCertificateExpires",
      severity: "critical",
      forMinutes: 0,
      expr: `min by (job, provider) (cloudwire_provider_client_certificate_expiration_timestamp_seconds{${OF_JOB}}) - time() < 14400`,
      summary: "The client certificate for a provider expires within four hours.",
      description:
        "The client certificate for provider {{ $labels.provider }} expires within four hours. After that the provider rejects the connection. Check that its issuer still works, and that the new certificate is in the files of --provider-tls.",
      trial: {
        series: {
          'cloudwire_provider_client_certificate_expiration_timestamp_seconds{instance="a",provider="p"}':
            until(14_400),
        },
        fault: [11, 20],
        labels: { provider: "p" },
      },
    },
    {
      name: "CloudwireProviderTLSFilesUnusable",
      severity: "warning",
      forMinutes: 15,
      expr: `max by (job, instance, provider) (cloudwire_provider_tls_files_unusable{${OF_JOB}}) == 1`,
      summary: "Changed TLS files for a provider are unusable.",
      description:
        "{{ $labels.instance }} cannot use the current files of --provider-tls for provider {{ $labels.provider }}; the previous ones stay in use until they expire. /statusz has the error.",
      trial: {
        series: {
          'cloudwire_provider_tls_files_unusable{instance="a",provider="p"}': gauge([0, 5], [1, 25], [0, 10]),
        },
        fault: [5, 30],
        labels: { instance: "a", provider: "p" },
      },
    },
    {
      name: "CloudwireCloudThrottling",
      severity: "warning",
      forMinutes: 30,
      expr: `sum by (job, provider) (rate(cloudwire_cloud_throttled_total{${OF_JOB}}[10m])) > 0`,
      summary: "A cloud is throttling requests.",
      description:
        "The cloud of provider {{ $labels.provider }} has been throttling requests for half an hour. All its operations are delayed. Check which other clients use the account, and that the provider's declared rates are below the quota.",
      trial: {
        series: {
          'cloudwire_cloud_throttled_total{instance="a",provider="p",method="GetInstances"}': counter(
            [0, 5],
            [1, 50],
            [0, 25],
          ),
        },
        fault: [5, 55],
        window: 10,
        labels: { provider: "p" },
      },
    },
    {
      name: "CloudwireCallBudgetExhausted",
      severity: "warning",
      forMinutes: 30,
      expr: `sum by (job, provider, quota_class) (increase(cloudwire_provider_calls_rejected_total{${OF_JOB}}[10m])) > 0`,
      summary: "Calls to a provider exceed its call budget.",
      description:
        "Calls of quota class {{ $labels.quota_class }} to provider {{ $labels.provider }} have been rejected for half an hour, because its call budget is exhausted. They are retried later. /debug/providers shows the budgets.",
      trial: {
        series: {
          'cloudwire_provider_calls_rejected_total{instance="a",provider="p",quota_class="instances",priority="low"}':
            counter([0, 5], [1, 50], [0, 25]),
        },
        fault: [5, 55],
        window: 10,
        labels: { provider: "p", quota_class: "instances" },
      },
    },
    {
      name: "CloudwireOwnershipConflict",
      severity: "warning",
      forMinutes: 5,
      expr: `max by (job, kind, value) (cloudwire_ownership_conflicts{${OF_JOB}}) == 1`,
      summary: "Providers declare conflicting ownership.",
      description:
        "{{ $labels.kind }} {{ $labels.value }} is in conflict: several providers declare it, or the default provider does not support it. Affected objects are not changed. The log names the providers.",
      trial: {
        series: {
          'cloudwire_ownership_conflicts{instance="a",kind="loadBalancerClass",value="example.com/lb"}': gauge(
            [0, 5],
            [1, 15],
            [0, 10],
          ),
        },
        fault: [5, 20],
        labels: { kind: "loadBalancerClass", value: "example.com/lb" },
      },
    },
  ],
};
