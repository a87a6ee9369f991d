import { type AlertGroup, gauge, OF_JOB } from "../alert.ts";

const LEASE = 'name="cloud-controller-manager"';
const handOver = Array.from(
  { length: 6 },
  () =>
    [
      [0, 4],
      [1, 4],
    ] as const,
).flat();

export const AVAILABILITY: AlertGroup = {
  name: "cloudwire-availability",
  title: "Is it there, and does somebody lead",
  alerts: [
    {
      name: "CloudwireDown",
      severity: "critical",
      forMinutes: 5,
      expr: `absent(up{${OF_JOB}} == 1)`,
      summary: "No replica of the cloud-controller-manager answers.",
      description:
        "Prometheus reaches no replica of the cloud-controller-manager. New nodes keep their taint and Services get no load balancer. Look whether its pods run, and whether Prometheus may read their metrics.",
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
      summary: "A replica of the cloud-controller-manager does not answer.",
      description:
        "Prometheus does not reach {{ $labels.instance }}. While another replica leads, the cluster is served; there is none to spare. Look at the pod, its last log and its exit code.",
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
      summary: "No replica of the cloud-controller-manager leads.",
      description:
        "No replica holds Lease {{ $labels.name }}, so no controller works. Look who holds the Lease, and whether the replicas may write it.",
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
      summary: "The cloud-controller-manager changes its leader again and again.",
      description:
        "The lead of Lease {{ $labels.name }} was taken or lost {{ $value | humanize }} times within an hour. Each time all replicas but one start anew. Look for slow answers of the API server, for a processor that is short, and at exit codes.",
      trial: {
        series: { [`leader_election_master_status{instance="a",${LEASE}}`]: gauge([1, 10], ...handOver, [1, 90]) },
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
      summary: "The leader has lost a provider, and no other replica can use it.",
      description:
        "The leader cannot reach a provider and would make way for a replica that can, but finds none. What that provider serves stands still. Look at the provider's container in every replica.",
      trial: {
        series: { 'cloudwire_leader_handover_requested{instance="a"}': gauge([0, 5], [1, 15], [0, 10]) },
        fault: [5, 20],
        labels: {},
      },
    },
  ],
};
