import type { Options } from "./options.ts";
import { type HealthCheck, controllerChecks, controllersSummary } from "../server/health.ts";
import { type ConfigReloader, reloadSummary } from "./config-reloader.ts";
import type { Controllers } from "../runtime/supervised-controller.ts";
import { enabledControllers } from "./controllers.ts";
import type { Election } from "../leadership/election.ts";
import type { ProviderSide } from "../provider/providers.ts";

export interface ProcessStateDependencies {
  readonly options: Options;
  readonly reloader: ConfigReloader | undefined;
  /** Aborts as soon as the process is to end, for whatever reason. */
  readonly ending: AbortSignal;
}

/** What the health endpoints know, from before everything is built. */
export class ProcessState {
  clusterProblem: string | undefined = "the identity of the cluster is not read yet";
  provider: ProviderSide | undefined;
  election: Election | undefined;
  controllers: Controllers | undefined;

  /** Fails only when a restart would help. */
  readonly liveness: readonly HealthCheck[];

  /** One provider of several that is away takes nobody's readiness: the others are served all the same, and webhooks with them. */
  readonly readiness: readonly HealthCheck[];

  readonly #names: readonly string[];

  readonly #reloader: ConfigReloader | undefined;

  constructor({ options, reloader, ending }: ProcessStateDependencies) {
    const providers = options.provider.map(({ name }) => name);
    this.#names = providers;
    this.#reloader = reloader;
    this.liveness = [
      { name: "ping", problem: () => undefined },
      { name: "leaderElection", problem: () => this.election?.unhealthy() },
      ...controllerChecks(enabledControllers(options), () => this.controllers?.all ?? []),
    ];
    this.readiness = [
      // Before anything is given up: whoever sends requests here has until the end of the drain to leave.
      { name: "shutdown", problem: () => (ending.aborted ? "the process is ending" : undefined) },
      { name: "cluster-identity", problem: () => this.clusterProblem },
      {
        name: "provider",
        problem: () => (this.provider === undefined ? "not connected yet" : this.provider.problem()),
      },
      ...providers.map((name) => ({
        name: `provider-${name}`,
        problem: () => undefined,
        warning: () => this.provider?.warning(name),
      })),
    ];
  }

  /** For people: who leads, and how the providers are. */
  status(): Readonly<Record<string, string>> {
    const leads = this.election === undefined ? "no election" : this.election.main.leading ? "yes" : "no, standing by";
    return {
      Leader: leads,
      Providers: this.#providers(),
      Controllers: controllersSummary(this.controllers?.all ?? []),
      ...(this.#reloader === undefined ? {} : { "Configuration file": reloadSummary(this.#reloader.state) }),
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
