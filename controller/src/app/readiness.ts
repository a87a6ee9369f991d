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

/** What the health endpoints know of one cluster, from before everything is built. */
export class ClusterState {
  identityProblem: string | undefined = "the identity of the cluster is not read yet";
  provider: Providers | undefined;
  election: Election | undefined;
  controllers: Controllers | undefined;

  /** Fails only when a restart would help. */
  readonly liveness: readonly HealthCheck[];

  /** One provider of several that is away takes nobody's readiness: the others are served all the same, and webhooks with them. */
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

  /** For people: who leads, and how the providers are. */
  status(): Readonly<Record<string, string>> {
    const leads = this.election === undefined ? "no election" : this.election.main.leading ? "yes" : "no, standing by";
    return {
      Leader: leads,
      Providers: this.#providers(),
      Controllers: controllersSummary(this.controllers?.all ?? []),
    };
  }

  #providers(): string {
    const { provider } = this;
    if (provider === undefined) return "not connected yet";
    const troubled = this.#names.flatMap((name) => {
      const warning = provider.warning(name);
      return warning === undefined ? [] : [`${name}: ${warning}`];
    });
    return troubled.length === 0 ? "all usable" : troubled.join("; ");
  }
}

/** What keeps the process, with all of its clusters, from being healthy or ready. `ending` aborts as soon as it is to end. */
export function processChecks(clusters: readonly ClusterState[], ending: AbortSignal): Checks {
  const liveness = [{ name: "ping", problem: () => undefined }, ...clusters.flatMap((cluster) => cluster.liveness)];
  return {
    liveness,
    readiness: [
      ...liveness,
      // Before anything is given up: whoever sends requests here has until the end of the drain to leave.
      { name: "shutdown", problem: () => (ending.aborted ? "the process is ending" : undefined) },
      ...clusters.flatMap(({ readiness }) => readiness),
    ],
  };
}
