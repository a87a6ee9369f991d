import { boolFlag, durationFlag, stringFlag, formatDuration, type Problem } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";

export const leadershipFlags = {
  leaderElect: boolFlag({
    path: "Generic.LeaderElection.LeaderElect",
    group: "leader election",
    defaultValue: true,
    help: "work only while holding the Lease, so that several replicas may run",
  }),
  leaderElectLeaseDuration: durationFlag({
    path: "Generic.LeaderElection.LeaseDuration",
    group: "leader election",
    defaultValue: 15_000,
    min: 1000,
    help: "how long others wait after the last renewal before they take over",
  }),
  leaderElectRenewDeadline: durationFlag({
    path: "Generic.LeaderElection.RenewDeadline",
    group: "leader election",
    defaultValue: 10_000,
    min: 500,
    help: "how long the leader tries to renew before it gives up and exits",
  }),
  leaderElectRetryPeriod: durationFlag({
    path: "Generic.LeaderElection.RetryPeriod",
    group: "leader election",
    defaultValue: 2000,
    min: 100,
    help: "how long to wait between two tries to acquire or renew",
  }),
  leaderElectResourceName: stringFlag({
    path: "Generic.LeaderElection.ResourceName",
    group: "leader election",
    valueName: "name",
    defaultValue: "cloud-controller-manager",
    help: "name of the Lease",
  }),
  leaderElectResourceNamespace: stringFlag({
    path: "Generic.LeaderElection.ResourceNamespace",
    group: "leader election",
    valueName: "namespace",
    defaultValue: "kube-system",
    help: "namespace of the Lease",
  }),
  leaderElectProviderTimeout: durationFlag({
    group: "leader election",
    defaultValue: 60_000,
    min: 0,
    help: "how long the leader works without one of its providers before it hands over to a replica that can use it; 0: never",
  }),
  enableLeaderMigration: boolFlag({
    path: "Generic.LeaderMigrationEnabled",
    group: "leader election",
    defaultValue: false,
    help: "lead controllers that move between two programs under a second Lease (KEP-2436)",
  }),
  leaderMigrationConfig: stringFlag({
    group: "leader election",
    valueName: "file",
    help: "LeaderMigrationConfiguration: the controllers that move and the programs that run them; empty: those that left kube-controller-manager",
    differs: "empty also knows the current names of the controllers",
  }),
} as const;

export type LeadershipOptions = OptionsOf<typeof leadershipFlags>;

export function leadershipProblems(options: LeadershipOptions): readonly Problem[] {
  return [...times(options), ...names(options), ...migration(options)];
}

/** client-go/tools/leaderelection v0.36.3: the renew deadline must leave room for a jittered retry. */
const RETRY_JITTER = 1.2;

function times(options: LeadershipOptions): readonly Problem[] {
  if (!options.leaderElect) return [];
  const { leaderElectLeaseDuration: lease, leaderElectRenewDeadline: renew, leaderElectRetryPeriod: retry } = options;
  const problems: Problem[] = [];
  if (lease <= renew) {
    problems.push({
      where: "--leader-elect-lease-duration",
      what: `${formatDuration(lease)} is not longer than --leader-elect-renew-deadline (${formatDuration(renew)}): two replicas could lead`,
    });
  }
  if (renew <= RETRY_JITTER * retry) {
    problems.push({
      where: "--leader-elect-renew-deadline",
      what: `${formatDuration(renew)} is not longer than ${RETRY_JITTER} times --leader-elect-retry-period (${formatDuration(retry)}): one slow renewal would lose the Lease`,
    });
  }
  return problems;
}

/** Names of objects and of namespaces (apimachinery/pkg/util/validation v0.36.3). */
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function names(options: LeadershipOptions): readonly Problem[] {
  if (!options.leaderElect) return [];
  const { leaderElectResourceName: lease, leaderElectResourceNamespace: namespace } = options;
  const given = [
    { where: "--leader-elect-resource-name", name: lease, form: SUBDOMAIN, marks: ", dashes and dots" },
    { where: "--leader-elect-resource-namespace", name: namespace, form: LABEL, marks: " and dashes" },
  ];
  return given
    .filter(({ name, form }) => !form.test(name))
    .map(({ where, name, marks }) => ({
      where,
      what: `"${name}" is not a valid Kubernetes name: use lower-case letters, digits${marks}, with a letter or digit at both ends`,
    }));
}

function migration(options: LeadershipOptions): readonly Problem[] {
  const { leaderElect, enableLeaderMigration, leaderMigrationConfig } = options;
  if (enableLeaderMigration && !leaderElect) {
    return [{ where: "--enable-leader-migration", what: "requires --leader-elect" }];
  }
  if (!enableLeaderMigration && leaderMigrationConfig !== "") {
    return [{ where: "--leader-migration-config", what: "requires --enable-leader-migration" }];
  }
  return [];
}
