import { CLOUD_CONTROLLER_MANAGER, CONTROLLER_ALIASES } from "../api/controller-names.ts";
import type { EventInput } from "../api/event.ts";
import type { ObjectReference } from "../api/meta.ts";
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
  /** undefined: all controllers are led under one Lease. */
  readonly migration: LeaderMigration | undefined;
  readonly controllers: Pick<Controllers, "run">;
  readonly kube: Pick<ClusterConnection, "electionClient" | "informers"> & {
    readonly events: Pick<ClusterConnection["events"], "recorder">;
  };
  readonly provider: Pick<Providers, "sidecars">;
  /** Of this process, on each Lease: `<hostname>_<uuid>`. */
  readonly identity: string;
  readonly sequence: ChangeSequence;
  /** Of controllers, by name: each on the Lease that its controller is led under. */
  readonly annotations: ReadonlyMap<string, readonly LeaseAnnotation[]>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How long work in hand may take once the process is asked to end. */
  readonly graceMs: number;
}

/** Within so many retry periods each candidate has looked at the lease once, those that poll too: JitterFactor 1.2, leaderelection.go v0.36.3. */
const SLOWEST_POLL = 2.2;

/** Who leads what: everything under the main Lease but for controllers that migrate, which have a second one. */
export class Election {
  readonly #deps: ElectionDependencies;
  /** Under which the process leads at all. */
  readonly main: LeaderElector;
  readonly #migrating: LeaderElector | undefined;
  /** Aborts when another replica is to lead. */
  readonly #yielding = new AbortController();

  constructor(dependencies: ElectionDependencies) {
    const { options, migration, provider, identity, sequence, clock } = dependencies;
    const electorOf = electors(dependencies);
    this.#deps = dependencies;
    const own = [
      new ScopeAnnotations(provider.sidecars),
      new EpochAnnotation({ sequence, identity, clock }),
      this.#successorNotes(),
    ];
    this.main = electorOf(options.leaderElectResourceName, [...own, ...this.#annotationsUnder("main")]);
    this.#migrating = migration && electorOf(migration.leaseName, this.#annotationsUnder("migration"));
  }

  /** Why this process should be restarted; undefined is healthy. */
  unhealthy(): string | undefined {
    return this.main.unhealthy() ?? this.#migrating?.unhealthy();
  }

  /** Runs the controllers while it leads. A process that has made way for a better one ends as one that has lost the lease: as a standby. */
  async run(stop: AbortSignal): Promise<ElectionEnd> {
    const end = await this.#lead(AbortSignal.any([stop, this.#yielding.signal]));
    return end === "stopped" && !stop.aborted ? "lost" : end;
  }

  /** The second Lease is sought once the main one is held; losing either ends both. */
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

  /** What a controller that another program runs has kept grows old under the main Lease, and goes. */
  #annotationsUnder(lease: "main" | "migration"): readonly LeaseAnnotation[] {
    const { annotations, migration } = this.#deps;
    return [...annotations].flatMap(([controller, own]) => {
      const isMigrating = placementOf(controller, migration, CONTROLLER_ALIASES) === "migration";
      return isMigrating === (lease === "migration") ? own : [];
    });
  }

  #successorNotes(): HandoverAnnotation {
    const { options, kube, provider, identity, clock, log, metrics } = this.#deps;
    const tell = (eventOf: (lease: ObjectReference, identity: string, why: string) => EventInput, why: string): void =>
      kube.events.recorder(CLOUD_CONTROLLER_MANAGER).record(eventOf(this.main.reference, identity, why));
    return new HandoverAnnotation({
      identity,
      providers: provider.sidecars,
      timeoutMs: options.leaderElectProviderTimeout,
      deferMs: SLOWEST_POLL * options.leaderElectRetryPeriod,
      isWarm: () => kube.informers.every(({ informer }) => informer.hasSynced()),
      clock,
      log,
      metrics: handoverMetrics(metrics),
      onAsk: (why) => tell(leaderLacksProvider, why),
      onYield: (why) => {
        tell(leadershipHandedOver, why);
        this.#yielding.abort(new Error("another replica is to lead"));
      },
    });
  }

  /** Ends only when it is to end: without a controller to run there may still be webhooks to answer, and a Lease to hold. */
  async #run(placement: "main" | "migration", stop: AbortSignal, lost: AbortSignal): Promise<void> {
    const { controllers, migration, graceMs } = this.#deps;
    const isChosen = (name: string): boolean => placementOf(name, migration, CONTROLLER_ALIASES) === placement;
    const ended = Promise.race([aborted(stop), aborted(lost)]);
    await Promise.all([controllers.run(isChosen, { stop, lost, graceMs }), ended]);
  }
}

/** Electors of this process: one identity, one client, one set of metrics. */
function electors(
  dependencies: ElectionDependencies,
): (name: string, annotations: readonly LeaseAnnotation[]) => LeaderElector {
  const { options, kube, identity, clock, random, log } = dependencies;
  const metricsOf = electionMetrics(dependencies.metrics);
  return (name, annotations) =>
    new LeaderElector({
      client: kube.electionClient,
      timings: {
        leaseDurationMs: options.leaderElectLeaseDuration,
        renewDeadlineMs: options.leaderElectRenewDeadline,
        retryPeriodMs: options.leaderElectRetryPeriod,
      },
      lock: { namespace: options.leaderElectResourceNamespace, name },
      identity,
      clock,
      random,
      log,
      events: kube.events.recorder(CLOUD_CONTROLLER_MANAGER),
      metrics: metricsOf(name),
      annotations: composeAnnotations(annotations),
    });
}
