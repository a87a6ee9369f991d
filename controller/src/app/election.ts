import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { CLOUD_CONTROLLER_MANAGER, CONTROLLER_ALIASES } from "../api/controller-names.ts";
import { electionMetrics, type ElectionEnd, LeaderElector } from "../kube/leader-election.ts";
import type { LeaseNotes } from "../kube/lease-lock.ts";
import { type LeaderMigration, placementOf } from "../options/leader-migration.ts";
import type { Options } from "../options/options.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { aborted, childSignal } from "../util/abort.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { Controllers } from "./controllers.ts";
import type { KubeSide } from "./kube-side.ts";
import type { ProviderSide } from "./provider-side.ts";

export interface ElectionDependencies {
  readonly options: Options;
  /** undefined: all controllers are led under one Lease. */
  readonly migration: LeaderMigration | undefined;
  readonly controllers: Controllers;
  readonly kube: KubeSide;
  readonly provider: ProviderSide;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How long work in hand may take once the process is asked to end. */
  readonly graceMs: number;
}

/** Who leads what: everything under the main Lease but for controllers that migrate, which have a second one. */
export class Election {
  readonly #deps: ElectionDependencies;
  /** Under which the process leads at all. */
  readonly main: LeaderElector;
  readonly #migrating: LeaderElector | undefined;

  constructor(dependencies: ElectionDependencies) {
    const { options, migration, provider } = dependencies;
    const electorOf = electors(dependencies);
    this.#deps = dependencies;
    this.main = electorOf(options.leaderElectResourceName, provider.scopeNotes);
    this.#migrating = migration && electorOf(migration.leaseName);
  }

  /** Why this process should be restarted; undefined is healthy. */
  unhealthy(): string | undefined {
    return this.main.unhealthy() ?? this.#migrating?.unhealthy();
  }

  /** Runs the controllers while it leads. The second Lease is sought once the main one is held; losing either ends both. */
  async run(stop: AbortSignal): Promise<ElectionEnd> {
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

  /** Ends only when it is to end: without a controller to run there may still be webhooks to answer, and a Lease to hold. */
  async #run(placement: "main" | "migration", stop: AbortSignal, lost: AbortSignal): Promise<void> {
    const { controllers, migration, graceMs } = this.#deps;
    const isChosen = (name: string): boolean => placementOf(name, migration, CONTROLLER_ALIASES) === placement;
    const ended = Promise.race([aborted(stop), aborted(lost)]);
    await Promise.all([controllers.run(isChosen, { stop, lost, graceMs }), ended]);
  }
}

/** Electors of this process: one identity, one client, one set of metrics. */
function electors(dependencies: ElectionDependencies): (name: string, notes?: LeaseNotes) => LeaderElector {
  const { options, kube, clock, random, log } = dependencies;
  const metricsOf = electionMetrics(dependencies.metrics);
  const identity = `${hostname()}_${randomUUID()}`;
  return (name, notes) =>
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
      ...(notes === undefined ? {} : { notes }),
    });
}
