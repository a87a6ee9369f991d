import { type AlertGroup, counter, gauge, OF_JOB } from "../alert.ts";

/** Reasons that need attention, or that should have resolved automatically by now. */
const BLOCKING =
  "Rejected|QuotaExceeded|Conflict|OwnedByAnotherCluster|FeatureUnsupported|CapabilityNotSupported|InvalidCredentials|PermissionDenied|CloudSetupInvalid|ProviderScopeChanged|Throttled|CloudBusy|DependencyInUse|LoadBalancerFailed|CloudUnavailable|ProviderUnavailable|ProviderNotReady|ProviderHandshakeFailed|NoLoadBalancerProvider|OutcomeUnknown|SyncFailed|NoAvailableNodes";

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
      summary: "Nodes keep the uninitialized taint.",
      description:
        "{{ $value | humanize }} nodes keep the uninitialized taint: {{ $labels.reason }}. No pod is scheduled to them. Their events name the cause.",
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
      summary: "Too many nodes would be deleted at once.",
      description:
        "The cloud of provider {{ $labels.provider }} reports so many instances as absent that the deletion circuit breaker is open, and no node is deleted. Check whether the instances are really gone. If so, approve the deletion of their nodes; if not, fix the provider's credentials or its cloud.",
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
      summary: "Nodes have no pod CIDR, because none is free.",
      description:
        "{{ $value | humanize }} nodes wait for a pod CIDR, and none is free. Their pods get no IP address. Delete unused nodes, or add a CIDR to the cluster.",
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
      summary: "The pod CIDRs of the cluster are nearly exhausted.",
      description:
        "{{ $value | humanizePercentage }} of the pod CIDRs of {{ $labels.clusterCIDR }} are allocated. When all are allocated, new nodes get no pod CIDR. Add a CIDR, or delete unused nodes.",
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
        "{{ $value | humanize }} CertificateSigningRequests of kubelets are not approved: {{ $labels.reason }}. Logs, exec and metrics of pods on those nodes fail when the old certificate expires. Check the requester and the names in each request.",
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
      expr: `max by (job, provider, reason) (cloudwire_services{${OF_JOB},reason=~"${BLOCKING}"}) > 0`,
      summary: "Services do not have the load balancer that they request.",
      description:
        "{{ $value | humanize }} Services of provider {{ $labels.provider }} have no load balancer that matches their spec: {{ $labels.reason }}. Condition cloudwire.dev/LoadBalancerReady of each Service has the cause and the fix.",
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
      summary: "Changes of load balancers have been in progress for half an hour.",
      description:
        "For half an hour at least one Service of provider {{ $labels.provider }} has had reason {{ $labels.reason }}, now {{ $value | humanize }}. Unless many Services are created one after the other, the cloud is stuck. Check the oldest one.",
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
      summary: "Load balancers drift again after each repair.",
      description:
        "{{ $value | humanize }} load balancers of provider {{ $labels.provider }} were repaired several times, and changed again each time. Repair is suspended for a day. Find out who changes them in the cloud.",
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
      summary: "The nodes of load balancers are not updated.",
      description:
        "{{ $value | humanize }} updates of load balancers' nodes failed within ten minutes. Load balancers may send traffic to nodes that are gone. Events of the Services name the load balancers and the cause.",
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
      summary: "Load balancers in the cloud have no Service.",
      description:
        "{{ $value | humanize }} load balancers of this cluster at provider {{ $labels.provider }} have no Service. They cost money, and the controller does not delete them. The log lists them; delete them in the cloud.",
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
        "{{ $value | humanizePercentage }} of the routes that the cloud of provider {{ $labels.provider }} allows are in use. When all are in use, new nodes have no pod network. Request a higher quota, or delete unused routes.",
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
