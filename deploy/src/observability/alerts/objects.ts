import { type AlertGroup, counter, gauge, OF_JOB } from "../alert.ts";

/** Reasons that do not pass by themselves, or should have. */
const IN_THE_WAY =
  "Rejected|QuotaExceeded|Conflict|ProviderNotAuthorized|Throttled|CloudBusy|DependencyInUse|LoadBalancerFailed|ProviderUnavailable|NoLoadBalancerProvider|OutcomeUnknown|SyncFailed|NoAvailableNodes";

const shortFault = gauge([0, 5], [1, 15], [0, 10]);

export const NODES: AlertGroup = {
  name: "cloudwire-nodes",
  title: "Nodes",
  alerts: [
    {
      name: "CloudwireNodesUninitialized",
      severity: "warning",
      forMinutes: 10,
      expr: `max by (job, reason) (cloudwire_nodes_uninitialized{${OF_JOB}}) > 0`,
      summary: "Nodes keep the taint that keeps pods away.",
      description:
        "{{ $value | humanize }} nodes keep the taint uninitialized: {{ $labels.reason }}. No pod is scheduled to them. Their events say more.",
      trial: {
        series: { 'cloudwire_nodes_uninitialized{instance="a",reason="absent"}': gauge([0, 5], [3, 15], [0, 10]) },
        fault: [5, 20],
        labels: { reason: "absent" },
        value: "3",
      },
    },
    {
      name: "CloudwireTooManyNodeDeletions",
      severity: "critical",
      forMinutes: 1,
      expr: `max by (job, provider) (cloudwire_node_deletion_circuit_open{${OF_JOB}}) == 1`,
      summary: "More nodes would be deleted at once than may.",
      description:
        "The cloud of provider {{ $labels.provider }} says of so many machines that they are gone, that no node is deleted any more. Look whether they really are. If so, release their nodes; if not, put the provider's credentials or its cloud right.",
      trial: {
        series: { 'cloudwire_node_deletion_circuit_open{instance="a",provider="p"}': shortFault },
        fault: [5, 20],
        labels: { provider: "p" },
      },
    },
    {
      name: "CloudwireNodesWithoutPodCIDR",
      severity: "critical",
      forMinutes: 5,
      expr: `max by (job) (cloudwire_node_ipam_waiting_nodes{${OF_JOB}}) > 0`,
      summary: "Nodes get no pod range, for none is free.",
      description:
        "{{ $value | humanize }} nodes wait for a pod range and none is free. Their pods get no address. Remove nodes, or give the cluster another range.",
      trial: {
        series: { 'cloudwire_node_ipam_waiting_nodes{instance="a"}': gauge([0, 5], [2, 15], [0, 10]) },
        fault: [5, 20],
        labels: {},
        value: "2",
      },
    },
    {
      name: "CloudwirePodCIDRsNearlyExhausted",
      severity: "warning",
      forMinutes: 15,
      expr: `max by (job, clusterCIDR) (node_ipam_controller_cidrset_usage_cidrs{${OF_JOB}}) > 0.9`,
      summary: "Pod ranges are nearly used up.",
      description:
        "{{ $value | humanizePercentage }} of the pod ranges of {{ $labels.clusterCIDR }} are given away. Nodes beyond the last get none.",
      trial: {
        series: {
          'node_ipam_controller_cidrset_usage_cidrs{instance="a",clusterCIDR="10.0.0.0/8"}': gauge(
            [0.5, 5],
            [0.95, 25],
            [0.5, 10],
          ),
        },
        fault: [5, 30],
        labels: { clusterCIDR: "10.0.0.0/8" },
        value: "95%",
      },
    },
    {
      name: "CloudwireKubeletCertificatesNotApproved",
      severity: "warning",
      forMinutes: 15,
      expr: `max by (job, reason) (cloudwire_kubelet_serving_csrs_not_approved{${OF_JOB}}) > 0`,
      summary: "Kubelets get no serving certificate.",
      description:
        "{{ $value | humanize }} CertificateSigningRequests of kubelets are not approved: {{ $labels.reason }}. Logs, exec and metrics of pods on those nodes fail when the old certificate ends. Look who asked, and for which names.",
      trial: {
        series: {
          'cloudwire_kubelet_serving_csrs_not_approved{instance="a",reason="instanceNotFound"}': gauge(
            [0, 5],
            [1, 25],
            [0, 10],
          ),
        },
        fault: [5, 30],
        labels: { reason: "instanceNotFound" },
        value: "1",
      },
    },
  ],
};

export const LOAD_BALANCERS: AlertGroup = {
  name: "cloudwire-load-balancers-and-routes",
  title: "Load balancers and routes",
  alerts: [
    {
      name: "CloudwireServicesWithoutLoadBalancer",
      severity: "warning",
      forMinutes: 10,
      expr: `max by (job, provider, reason) (cloudwire_services{${OF_JOB},reason=~"${IN_THE_WAY}"}) > 0`,
      summary: "Services are without the load balancer that they ask for.",
      description:
        "{{ $value | humanize }} Services of provider {{ $labels.provider }} are not served as they wish: {{ $labels.reason }}. The condition cloudwire.dev/LoadBalancerReady of each says what stands in the way and what to do.",
      trial: {
        series: {
          'cloudwire_services{instance="a",provider="p",reason="Rejected"}': gauge([0, 5], [2, 15], [0, 10]),
          'cloudwire_services{instance="a",provider="p",reason="Ready"}': gauge([9, 30]),
        },
        fault: [5, 20],
        labels: { provider: "p", reason: "Rejected" },
        value: "2",
      },
    },
    {
      name: "CloudwireLoadBalancersSlow",
      severity: "warning",
      forMinutes: 30,
      expr: `max by (job, provider, reason) (cloudwire_services{${OF_JOB},reason=~"Unknown|Provisioning|Updating|Deleting"}) > 0`,
      summary: "Load balancers have been on the way for half an hour.",
      description:
        "At each moment of half an hour {{ $labels.reason }} was said of some Service of provider {{ $labels.provider }}, now of {{ $value | humanize }}. Unless many are made one after the other, the cloud hangs. Look at the oldest.",
      trial: {
        series: {
          'cloudwire_services{instance="a",provider="p",reason="Provisioning"}': gauge([0, 5], [1, 40], [0, 10]),
        },
        fault: [5, 45],
        labels: { provider: "p", reason: "Provisioning" },
        value: "1",
      },
    },
    {
      name: "CloudwireLoadBalancerDriftNotRepaired",
      severity: "warning",
      forMinutes: 5,
      expr: `max by (job, provider) (cloudwire_services{${OF_JOB},reason="DriftNotRepaired"}) > 0`,
      summary: "Somebody changes load balancers back.",
      description:
        "{{ $value | humanize }} load balancers of provider {{ $labels.provider }} were made as wished several times, and changed back each time. They are left so for a day. Find who changes them at the cloud.",
      trial: {
        series: {
          'cloudwire_services{instance="a",provider="p",reason="DriftNotRepaired"}': shortFault,
        },
        fault: [5, 20],
        labels: { provider: "p" },
        value: "1",
      },
    },
    {
      name: "CloudwireLoadBalancerNodesNotUpdated",
      severity: "warning",
      forMinutes: 15,
      expr: `sum by (job) (increase(service_controller_nodesync_error_total{${OF_JOB}}[10m])) > 0`,
      summary: "Load balancers do not get the nodes that they should have.",
      description:
        "{{ $value | humanize }} updates of load balancers' nodes failed within ten minutes. They may send traffic to nodes that are gone. Events of the Services say which and why.",
      trial: {
        series: { 'service_controller_nodesync_error_total{instance="a"}': counter([0, 5], [1, 35], [0, 25]) },
        fault: [5, 40],
        window: 10,
        labels: {},
        value: "10",
      },
    },
    {
      name: "CloudwireLoadBalancersOrphaned",
      severity: "info",
      forMinutes: 60,
      expr: `max by (job, provider) (cloudwire_load_balancers_orphaned{${OF_JOB}}) > 0`,
      summary: "Load balancers at the cloud belong to no Service.",
      description:
        "{{ $value | humanize }} load balancers of this cluster at provider {{ $labels.provider }} belong to no Service. They cost money and are left alone; the log names them. Delete them at the cloud.",
      trial: {
        series: {
          'cloudwire_load_balancers_orphaned{instance="a",provider="p"}': gauge([0, 5], [1, 75], [0, 10]),
        },
        fault: [5, 80],
        labels: { provider: "p" },
        value: "1",
      },
    },
    {
      name: "CloudwireRouteTableNearlyFull",
      severity: "warning",
      forMinutes: 10,
      expr: `max by (job, provider) (cloudwire_route_quota_used{${OF_JOB}} / cloudwire_route_quota_limit{${OF_JOB}}) >= 0.8`,
      summary: "A cloud's route table is nearly full.",
      description:
        "{{ $value | humanizePercentage }} of the routes that the cloud of provider {{ $labels.provider }} takes are in use. Nodes beyond the last are without pod network. Have the quota raised, or remove routes that nobody needs.",
      trial: {
        series: {
          'cloudwire_route_quota_used{instance="a",provider="p"}': gauge([10, 5], [45, 20], [10, 10]),
          'cloudwire_route_quota_limit{instance="a",provider="p"}': gauge([50, 35]),
        },
        fault: [5, 25],
        labels: { provider: "p" },
        value: "90%",
      },
    },
  ],
};
