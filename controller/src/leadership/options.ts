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
    help: "how long the leader goes on without one of its providers before it makes way for a replica that can use it, if there is one; 0 turns it off",
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
    help: "LeaderMigrationConfiguration that says which controllers move and who runs them; empty: those that left kube-controller-manager",
    differs: "empty knows the present names of the controllers as well",
  }),
} as const;

export type LeadershipOptions = OptionsOf<typeof leadershipFlags>;

/** What is wrong with the settings of leader election. */
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
      what: `${formatDuration(renew)} is not longer than ${RETRY_JITTER} times --leader-elect-retry-period (${formatDuration(retry)}): one slow renewal would lose the lease`,
    });
  }
  return problems;
}

/** Names of objects and of namespaces (apimachinery/pkg/util/validation v0.36.3). */
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function names({
  leaderElect,
  leaderElectResourceName,
  leaderElectResourceNamespace,
}: LeadershipOptions): readonly Problem[] {
  if (!leaderElect) return [];
  const given = [
    { where: "--leader-elect-resource-name", name: leaderElectResourceName, form: SUBDOMAIN, also: " and dots" },
    { where: "--leader-elect-resource-namespace", name: leaderElectResourceNamespace, form: LABEL, also: "" },
  ];
  return given
    .filter(({ name, form }) => !form.test(name))
    .map(({ where, name, also }) => ({
      where,
      what: `"${name}" is not a name of Kubernetes: lower-case letters, digits, dashes${also}, a letter or digit at both ends`,
    }));
}

function migration({
  leaderElect,
  enableLeaderMigration,
  leaderMigrationConfig,
}: LeadershipOptions): readonly Problem[] {
  if (enableLeaderMigration && !leaderElect) {
    return [{ where: "--enable-leader-migration", what: "needs --leader-elect: without election nothing can move" }];
  }
  if (!enableLeaderMigration && leaderMigrationConfig !== "") {
    return [{ where: "--leader-migration-config", what: "is of no use without --enable-leader-migration" }];
  }
  return [];
}
