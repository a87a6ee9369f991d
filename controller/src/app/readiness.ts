import type { NamedInformer } from "../kube/cluster.ts";
import type { Election } from "../leadership/election.ts";
import type { Providers } from "../provider/providers.ts";
import type { Controllers } from "../runtime/supervised-controller.ts";
import {
  type Checks,
  type HealthCheck,
  controllerChecks,
  controllersSummary,
  informerChecks,
} from "../server/health.ts";
import { enabledControllers } from "./controllers.ts";
import type { Options } from "./options.ts";

/** The state of one cluster that health endpoints show; exists before the parts do. */
export class ClusterState {
  identityProblem: string | undefined = "the cluster ID is not read yet";
  provider: Providers | undefined;
  election: Election | undefined;
  controllers: Controllers | undefined;

  readonly liveness: readonly HealthCheck[];

  /** One unavailable provider of several only warns: the others and the webhooks are still served. */
  readonly readiness: readonly HealthCheck[];

  readonly #names: readonly string[];

  constructor(options: Pick<Options, "provider" | "controllers">, informers: readonly NamedInformer[]) {
    this.#names = options.provider.map(({ name }) => name);
    this.liveness = [
      { name: "leaderElection", problem: () => this.election?.unhealthy() },
      ...controllerChecks(enabledControllers(options), () => this.controllers?.all ?? []),
    ];
    this.readiness = [
      { name: "cluster-identity", problem: () => this.identityProblem },
      {
        name: "provider",
        problem: () => (this.provider === undefined ? "not connected yet" : this.provider.problem()),
      },
      ...this.#names.map((name) => ({
        name: `provider-${name}`,
        problem: () => undefined,
        warning: () => this.provider?.warning(name),
      })),
      ...informerChecks(informers),
    ];
  }

  /** For `/statusz`. */
  status(): Readonly<Record<string, string>> {
    const leader = this.election === undefined ? "no election" : this.election.main.leading ? "yes" : "no (standby)";
    return {
      Leader: leader,
      Providers: this.#providers(),
      Controllers: controllersSummary(this.controllers?.all ?? []),
    };
  }

  #providers(): string {
    const { provider } = this;
    if (provider === undefined) return "not connected yet";
    const warnings = this.#names.flatMap((name) => {
      const warning = provider.warning(name);
      return warning === undefined ? [] : [`${name}: ${warning}`];
    });
    return warnings.length === 0 ? "all usable" : warnings.join("; ");
  }
}

/** @param ending aborts when shutdown begins */
export function processChecks(clusters: readonly ClusterState[], ending: AbortSignal): Checks {
  const liveness = [{ name: "ping", problem: () => undefined }, ...clusters.flatMap((cluster) => cluster.liveness)];
  return {
    liveness,
    readiness: [
      ...liveness,
      // Fails first, so that clients of the webhooks leave during the shutdown.
      { name: "shutdown", problem: () => (ending.aborted ? "the process is shutting down" : undefined) },
      ...clusters.flatMap(({ readiness }) => readiness),
    ],
  };
}
