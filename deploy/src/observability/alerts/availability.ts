import { type AlertGroup, gauge, OF_JOB } from "../alert.ts";

const LEASE = 'name="cloud-controller-manager"';
const handover = Array.from(
  { length: 6 },
  () =>
    [
      [0, 4],
      [1, 4],
    ] as const,
).flat();

export const AVAILABILITY: AlertGroup = {
  name: "cloudwire-availability",
  title: "Availability and leadership",
  alerts: [
    {
      name: "CloudwireDown",
      severity: "critical",
      forMinutes: 5,
      expr: `absent(up{${OF_JOB}} == 1)`,
      summary: "All replicas of the cloud-controller-manager are down.",
      description:
        "Prometheus cannot scrape any replica of the cloud-controller-manager. New nodes keep their taint, and Services get no load balancer. Check that its pods run, and that Prometheus is authorized to read their metrics.",
      trial: {
        series: { 'up{instance="a"}': gauge([1, 5], [0, 15], [1, 10]) },
        fault: [5, 20],
        labels: {},
        hasJob: false,
      },
    },
    {
      name: "CloudwireReplicaDown",
      severity: "warning",
      forMinutes: 15,
      expr: `min by (job, instance) (up{${OF_JOB}}) == 0`,
      summary: "A replica of the cloud-controller-manager is down.",
      description:
        "Prometheus cannot scrape {{ $labels.instance }}. The cluster is served while another replica is the leader, but without a standby. Check the pod, its last log and its exit code.",
      trial: {
        series: { 'up{instance="a"}': gauge([1, 5], [0, 25], [1, 10]), 'up{instance="b"}': gauge([1, 40]) },
        fault: [5, 30],
        labels: { instance: "a" },
      },
    },
    {
      name: "CloudwireNoLeader",
      severity: "critical",
      forMinutes: 2,
      expr: `sum by (job, name) (leader_election_master_status{${OF_JOB}}) < 1`,
      summary: "The cloud-controller-manager has no leader.",
      description:
        "No replica holds Lease {{ $labels.name }}, so no controller runs. Check which process holds the Lease, and that the replicas have permission to update it.",
      trial: {
        series: {
          [`leader_election_master_status{instance="a",${LEASE}}`]: gauge([1, 5], [0, 15], [1, 10]),
          [`leader_election_master_status{instance="b",${LEASE}}`]: gauge([0, 30]),
        },
        fault: [5, 20],
        labels: { name: "cloud-controller-manager" },
      },
    },
    {
      name: "CloudwireLeaderFlapping",
      severity: "warning",
      forMinutes: 0,
      expr: `sum by (job, name) (changes(leader_election_master_status{${OF_JOB}}[1h])) > 6`,
      summary: "The leader of the cloud-controller-manager changes repeatedly.",
      description:
        "The leader of Lease {{ $labels.name }} changed {{ $value | humanize }} times within an hour. Each change restarts a replica. Check the latency of the API server, CPU throttling and exit codes.",
      trial: {
        series: { [`leader_election_master_status{instance="a",${LEASE}}`]: gauge([1, 10], ...handover, [1, 90]) },
        fault: [34, 55],
        window: 60,
        firesAt: 60,
        labels: { name: "cloud-controller-manager" },
        value: "12",
      },
    },
    {
      name: "CloudwireLeaderHandoverPending",
      severity: "warning",
      forMinutes: 10,
      expr: `max by (job) (cloudwire_leader_handover_requested{${OF_JOB}}) == 1`,
      summary: "The leader lost a provider, and no other replica can use it.",
      description:
        "The leader cannot reach a provider and requests a leadership handover, but no other replica is a candidate. Objects of that provider are not reconciled. Check the provider's container in every replica.",
      trial: {
        series: { 'cloudwire_leader_handover_requested{instance="a"}': gauge([0, 5], [1, 15], [0, 10]) },
        fault: [5, 20],
        labels: {},
      },
    },
  ],
};
