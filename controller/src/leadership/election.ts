import { CLOUD_CONTROLLER_MANAGER, CONTROLLER_ALIASES } from "../api/controller-names.ts";
import { electionMetrics, type ElectionEnd, LeaderElector } from "./elector.ts";
import { type ChangeSequence, EpochAnnotation } from "./change-sequence.ts";
import { leaderLacksProvider, leadershipHandedOver } from "./events.ts";
import { ScopeAnnotations, composeAnnotations } from "./lease-annotations.ts";
import { type LeaderMigration, placementOf } from "./migration.ts";
import type { LeadershipOptions } from "./options.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { aborted, childSignal } from "../util/abort.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { Controllers } from "../runtime/supervised-controller.ts";
import type { ClusterConnection } from "../kube/cluster.ts";
import type { Providers } from "../provider/providers.ts";
import { HandoverAnnotation, handoverMetrics } from "./handover.ts";

export interface ElectionDependencies {
  readonly options: LeadershipOptions;
  /** undefined: one Lease for all controllers. */
  readonly migration: LeaderMigration | undefined;
  readonly controllers: Pick<Controllers, "run">;
  readonly kube: Pick<ClusterConnection, "electionClient" | "informers"> & {
    readonly events: Pick<ClusterConnection["events"], "recorder">;
  };
  readonly provider: Pick<Providers, "sidecars">;
  /** `<hostname>_<uuid>`. */
  readonly identity: string;
  readonly sequence: ChangeSequence;
  /** By controller: written to the Lease that the controller runs under. */
  readonly annotations: ReadonlyMap<string, readonly LeaseAnnotation[]>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How long running work may take after the stop signal. */
  readonly graceMs: number;
}

/** Each candidate has read the Lease within this many retry periods, even when polling: JitterFactor 1.2, leaderelection.go v0.36.3. */
const SLOWEST_POLL = 2.2;

/** Elects under the main Lease, and under a second one for controllers that migrate. */
export class Election {
  readonly #deps: ElectionDependencies;
  readonly main: LeaderElector;
  readonly #migrating: LeaderElector | undefined;
  /** Aborts when another replica should lead. */
  readonly #handover = new AbortController();

  constructor(dependencies: ElectionDependencies) {
    const { options, migration, provider, identity, sequence, clock } = dependencies;
    const electorOf = electors(dependencies);
    this.#deps = dependencies;
    const own = [
      new ScopeAnnotations(provider.sidecars),
      new EpochAnnotation({ sequence, identity, clock }),
      this.#handoverAnnotation(),
    ];
    this.main = electorOf(options.leaderElectResourceName, [...own, ...this.#annotationsUnder("main")]);
    this.#migrating = migration && electorOf(migration.leaseName, this.#annotationsUnder("migration"));
  }

  /** Why this process should be restarted; undefined: healthy. */
  unhealthy(): string | undefined {
    return this.main.unhealthy() ?? this.#migrating?.unhealthy();
  }

  /** Runs the controllers while leading. A handover ends like a lost Lease: the process restarts as a standby. */
  async run(stop: AbortSignal): Promise<ElectionEnd> {
    const end = await this.#lead(AbortSignal.any([stop, this.#handover.signal]));
    return end === "stopped" && !stop.aborted ? "lost" : end;
  }

  /** The second Lease is acquired after the main one; losing either ends both. */
  async #lead(stop: AbortSignal): Promise<ElectionEnd> {
    const migrating = this.#migrating;
    if (migrating === undefined) return this.main.run(stop, (lost) => this.#run("main", stop, lost));
    let isSecondLost = false;
    const end = await this.main.run(stop, async (lost) => {
      using losing = childSignal(lost);
      using ending = childSignal(stop);
      losing.signal.addEventListener("abort", () => ending.abort(losing.signal.reason), { once: true });
      const leadMigrating = async (): Promise<void> => {
        const secondEnd = await migrating.run(ending.signal, (lostSecond) =>
          this.#run("migration", stop, AbortSignal.any([lostSecond, losing.signal])),
        );
        isSecondLost = secondEnd === "lost";
        if (isSecondLost) losing.abort(new Error("the second Lease is lost"));
      };
      await Promise.all([this.#run("main", stop, losing.signal), leadMigrating()]);
    });
    return isSecondLost ? "lost" : end;
  }

  /** The annotations of a controller that runs elsewhere expire under the main Lease. */
  #annotationsUnder(lease: "main" | "migration"): readonly LeaseAnnotation[] {
    const { annotations, migration } = this.#deps;
    return [...annotations].flatMap(([controller, own]) => {
      const isMigrating = placementOf(controller, migration, CONTROLLER_ALIASES) === "migration";
      return isMigrating === (lease === "migration") ? own : [];
    });
  }

  #handoverAnnotation(): HandoverAnnotation {
    const { options, kube, provider, identity, clock, log, metrics } = this.#deps;
    const record = (eventOf: typeof leaderLacksProvider, message: string): void =>
      kube.events.recorder(CLOUD_CONTROLLER_MANAGER).record(eventOf(this.main.reference, identity, message));
    return new HandoverAnnotation({
      identity,
      providers: provider.sidecars,
      timeoutMs: options.leaderElectProviderTimeout,
      deferMs: SLOWEST_POLL * options.leaderElectRetryPeriod,
      isWarm: () => kube.informers.every(({ informer }) => informer.hasSynced()),
      clock,
      log,
      metrics: handoverMetrics(metrics),
      onRequest: (message) => record(leaderLacksProvider, message),
      onHandover: (message) => {
        record(leadershipHandedOver, message);
        this.#handover.abort(new Error("leadership is handed over"));
      },
    });
  }

  /** Runs until a signal aborts: without controllers, webhooks and the Lease still need the process. */
  async #run(placement: "main" | "migration", stop: AbortSignal, lost: AbortSignal): Promise<void> {
    const { controllers, migration, graceMs } = this.#deps;
    const isChosen = (name: string): boolean => placementOf(name, migration, CONTROLLER_ALIASES) === placement;
    const ended = Promise.race([aborted(stop), aborted(lost)]);
    await Promise.all([controllers.run(isChosen, { stop, lost, graceMs }), ended]);
  }
}

function electors(
  dependencies: ElectionDependencies,
): (name: string, annotations: readonly LeaseAnnotation[]) => LeaderElector {
  const { options, kube, metrics } = dependencies;
  const metricsOf = electionMetrics(metrics);
  return (name, annotations) =>
    new LeaderElector({
      ...dependencies,
      client: kube.electionClient,
      timings: {
        leaseDurationMs: options.leaderElectLeaseDuration,
        renewDeadlineMs: options.leaderElectRenewDeadline,
        retryPeriodMs: options.leaderElectRetryPeriod,
      },
      lock: { namespace: options.leaderElectResourceNamespace, name },
      events: kube.events.recorder(CLOUD_CONTROLLER_MANAGER),
      metrics: metricsOf(name),
      annotations: composeAnnotations(annotations),
    });
}
