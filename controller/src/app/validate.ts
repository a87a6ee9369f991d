import { withoutUserinfo } from "../util/text.ts";
import { cidrListProblems } from "../controllers/node-ipam/cidr-list.ts";
import { type Problem, formatDuration, parseAddress } from "../options/flag.ts";
import { controllerModeProblems } from "../observe/modes.ts";
import { nodeIpamProblems } from "../controllers/node-ipam/options.ts";
import type { Options } from "./options.ts";
import { providerTlsProblems } from "../provider/options.ts";
import { servingProblems, statusPageProblems } from "../server/serving-rules.ts";
import { webhookProblems } from "../server/webhooks/options.ts";

/** client-go/tools/leaderelection v0.36.3: the renew deadline must leave room for a jittered retry. */
const RETRY_JITTER = 1.2;

/** What no single flag can see: settings that do not fit each other, or are missing. */
export function validate(options: Options, knownControllers: ReadonlySet<string>): readonly Problem[] {
  return [
    ...missingProvider(options),
    ...unknownProviders(options),
    ...providerTlsProblems(options),
    ...apiServer(options.master),
    ...leaderElectionTimes(options),
    ...leaseNames(options),
    ...leaderMigration(options),
    ...cidrListProblems("--cluster-cidr", options.clusterCidr),
    ...nodeIpamProblems(options),
    ...unknownControllers(options.controllers, knownControllers),
    ...controllerModeProblems(options, knownControllers),
    ...servingProblems(options),
    ...statusPageProblems(options),
    ...webhookProblems(options),
    ...healthAddress(options.healthAddress),
  ];
}

function missingProvider({ provider }: Options): readonly Problem[] {
  if (provider.length > 0) return [];
  return [{ where: "--provider", what: "no provider is given; add --provider NAME=unix:///path/to/provider.sock" }];
}

function apiServer(master: string): readonly Problem[] {
  if (master === "") return [];
  const shown = withoutUserinfo(master);
  const wrong = (what: string): readonly Problem[] => [{ where: "--master", what: `"${shown}" ${what}` }];
  const url = URL.parse(master);
  if (url === null || !/^https?:\/\//.test(master))
    return wrong("is not an address; write it like https://10.0.0.1:6443");
  if (url.username === "" && url.password === "") return [];
  return wrong("has a user in it; credentials have their place in the file of --kubeconfig");
}

/** Names that other flags give to providers. */
function unknownProviders({
  provider,
  providerNodeSelector,
  providerCallRate,
  providerMode,
  defaultLoadBalancerProvider,
}: Options): readonly Problem[] {
  const known = new Set(provider.map(({ name }) => name));
  if (known.size === 0) return [];
  const named = [
    ...[...providerNodeSelector.keys()].map((name) => ({ where: "--provider-node-selector", name })),
    ...[...providerMode.keys()].map((name) => ({ where: "--provider-mode", name })),
    ...providerCallRate.map(({ provider: name }) => ({ where: "--provider-call-rate", name })),
    ...(defaultLoadBalancerProvider === ""
      ? []
      : [{ where: "--default-load-balancer-provider", name: defaultLoadBalancerProvider }]),
  ];
  return named
    .filter(({ name }) => !known.has(name))
    .map(({ where, name }) => ({
      where,
      what: `"${name}" is no provider; --provider names ${[...known].join(", ")}`,
    }));
}

function leaderMigration({ leaderElect, enableLeaderMigration, leaderMigrationConfig }: Options): readonly Problem[] {
  if (enableLeaderMigration && !leaderElect) {
    return [{ where: "--enable-leader-migration", what: "needs --leader-elect: without election nothing can move" }];
  }
  if (!enableLeaderMigration && leaderMigrationConfig !== "") {
    return [{ where: "--leader-migration-config", what: "is of no use without --enable-leader-migration" }];
  }
  return [];
}

function leaderElectionTimes(options: Options): readonly Problem[] {
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

function leaseNames({
  leaderElect,
  leaderElectResourceName,
  leaderElectResourceNamespace,
}: Options): readonly Problem[] {
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

function unknownControllers(names: readonly string[], known: ReadonlySet<string>): readonly Problem[] {
  return names
    .map((name) => name.replace(/^-/, ""))
    .filter((name) => name !== "*" && !known.has(name))
    .map((name) => ({
      where: "--controllers",
      what: `"${name}" is not a controller; there are ${[...known].join(", ")}`,
    }));
}

function healthAddress(text: string): readonly Problem[] {
  if (text === "" || parseAddress(text) !== undefined) return [];
  return [
    { where: "--health-address", what: `"${text}" is not host:port; write it like 127.0.0.1:10268 or [::1]:10268` },
  ];
}
