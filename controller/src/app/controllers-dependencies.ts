import type { DeletionLedger } from "../controllers/node-lifecycle/deletion-history.ts";
import type { Plans } from "../observe/plans.ts";
import type { Options } from "./options.ts";
import type { ControllerMetrics } from "../runtime/metrics.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { QueueMetrics } from "../workqueue/metrics.ts";
import type { Memories } from "../explain/history/stores.ts";
import type { KubeSide } from "../kube/cluster.ts";
import type { ProviderSide } from "../provider/providers.ts";

/** What every controller is made from. */
export interface ControllersDependencies {
  /** In force at this moment: those that are reloadable are read when they are needed. */
  readonly options: Options;
  readonly kube: KubeSide;
  readonly provider: ProviderSide;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracing: Tracing;
  /** Where plans are reported. @default nowhere: all are carried out */
  readonly plans?: Plans | undefined;
  /** Deletions that count for the brake. @default those of this process */
  readonly deletions?: DeletionLedger | undefined;
  /** Where what happens to objects is remembered. @default nowhere */
  readonly memories?: Memories | undefined;
}

/** A controller's own series of the metric families that all share. */
export interface SharedMetrics {
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
}

/** Makes what all instances of a controller share, its metrics above all, and answers how to make one of them. */
export type Prepare = (dependencies: ControllersDependencies, own: SharedMetrics) => BuildController;
