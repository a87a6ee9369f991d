import type { ClusterConnection } from "../kube/cluster.ts";
import type { Providers } from "../provider/providers.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Random } from "../util/clock.ts";
import type { Controller, ControllerEnvironment } from "./controller.ts";
import type { LeaseAnnotation } from "./lease-annotation.ts";

/** What the program has once, whatever it runs. */
export type ProgramContext = ControllerEnvironment["program"] & {
  /** Of this process, on each Lease. */
  readonly identity: string;
  readonly random: Random;
  readonly metrics: Metrics;
};

/** What one controller is made from. */
export interface ControllerContext<Options> extends ControllerEnvironment {
  /** In force at this moment: those that are reloadable are read when they are needed. */
  readonly options: Options;
  readonly cluster: Pick<
    ClusterConnection,
    "client" | "nodes" | "services" | "persistentVolumes" | "kubeletServingRequests"
  > & {
    readonly events: Pick<ClusterConnection["events"], "recorder">;
  };
  readonly providers: Pick<Providers, "providers" | "instances" | "onReady">;
  readonly program: ProgramContext;
}

/** A controller of this program. */
export interface Registration<Options> {
  /** Canonical name, from api/controller-names.ts. */
  readonly name: string;
  /** Upstream's name of its queue in metrics. */
  readonly queue: string;
  /** Upstream's name of it in metric running_managed_controllers. */
  readonly shortName: string;
  /** Registered also where it is off: what it kept on the Lease when it was on has to grow old there, and to go. @default false */
  readonly keepsOnLease?: boolean;
  /** Called once, before anybody leads. undefined: the options leave nothing for it to do, and the log says why. */
  register(context: ControllerContext<Options>): Registered | undefined;
}

export interface Registered {
  /** Makes a fresh instance for each start. Metric families are made by the first one: a standby has none that say nothing. */
  readonly build: () => Controller;
  /** What it keeps on the Lease that it is led under. @default nothing */
  readonly leaseAnnotations?: readonly LeaseAnnotation[];
}
