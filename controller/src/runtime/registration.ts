import type { ClusterConnection } from "../kube/cluster.ts";
import type { Providers } from "../provider/providers.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Random } from "../util/clock.ts";
import type { Controller, ControllerEnvironment } from "./controller.ts";
import type { LeaseAnnotation } from "./lease-annotation.ts";

export type ProgramContext = ControllerEnvironment["program"] & {
  readonly identity: string;
  readonly random: Random;
  readonly metrics: Metrics;
};

export interface ControllerContext<Options> extends ControllerEnvironment {
  readonly options: Options;
  readonly cluster: Pick<
    ClusterConnection,
    "apiServerHost" | "client" | "nodes" | "services" | "persistentVolumes" | "kubeletServingRequests"
  > & {
    readonly events: Pick<ClusterConnection["events"], "recorder">;
  };
  readonly providers: Pick<Providers, "providers" | "instances" | "onReady">;
  readonly program: ProgramContext;
}

export interface Registration<Options> {
  /** Canonical name, from api/controller-names.ts. */
  readonly name: string;
  readonly queue: string;
  readonly shortName: string;
  /** Registered also when disabled, so that its old annotations on the Lease expire. @default false */
  readonly keepsOnLease?: boolean;
  /** Called once, before leader election. undefined: disabled by the options; the log has the reason. */
  register(context: ControllerContext<Options>): Registered | undefined;
}

export interface Registered {
  /** Creates an instance for each start. The first one creates the metric families, so that a standby has no empty series. */
  readonly build: () => Controller;
  readonly leaseAnnotations?: readonly LeaseAnnotation[];
}
