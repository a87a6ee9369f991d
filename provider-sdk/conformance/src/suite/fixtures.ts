import type { TlsFiles } from "../endpoint/tls.ts";
import type { Hooks } from "./hooks.ts";

/** One instance of the vendor's that runs and that nothing changes during the run. */
export interface InstanceFixture {
  readonly providerId: string;
  readonly nodeName: string;
  /** Compared when given. */
  readonly type?: string;
  readonly zone?: string;
  readonly region?: string;
  readonly addresses?: readonly string[];
}

/** One volume of the vendor's that stays as it is. */
export interface VolumeFixture {
  /** Default: the first CSI driver of the handshake. */
  readonly driver?: string;
  readonly handle: string;
  /** Compared when given. */
  readonly zones?: readonly string[];
  readonly region?: string;
}

/** What the vendor's load balancers cannot do without. */
export interface LoadBalancerFixture {
  readonly class?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** An address that a Service may request and that is unused. Default: one that the cloud has given to a load balancer before. */
  readonly requestedIp?: string;
  /** Whether one cannot be without nodes: the machine of the configuration is one then. Default: false. */
  readonly needsNodes?: boolean;
  /** How long one may take to serve, and to be gone. Default: 10 min. */
  readonly timeoutMs?: number;
}

/** How much a run may make. */
export interface RunLimits {
  /** Resources in the cloud at once, load balancers and routes together. A check that needs more is left out. Default: no limit. */
  readonly maxResources?: number;
  /** What the vendor says that they may cost: shown before anything is made. */
  readonly maxCostNote?: string;
}

/** How much the cloud of a run of level X can take; limits of time are in proportion to it. */
export interface ScaleFixture {
  /** Machines that there are. Default: 15,000. */
  readonly instances?: number;
  /** Nodes of a set. They need be no machines that there are. Default: 15,000. */
  readonly nodes?: number;
  /** Load balancers that may be made. Default: 200. */
  readonly loadBalancers?: number;
}

/** What a vendor supplies beyond the endpoint. Each item lets more checks run. */
export interface Fixtures {
  /** Files with which the kit reaches a provider over TLS. */
  readonly tls?: TlsFiles;
  readonly instance?: InstanceFixture;
  /** A second machine that runs. */
  readonly otherInstance?: Pick<InstanceFixture, "providerId" | "nodeName">;
  /** Provider ID of a machine that is off, and can be turned on again. */
  readonly stoppedProviderId?: string;
  /** Provider ID of a machine that was there and is terminated. */
  readonly terminatedProviderId?: string;
  /** A provider ID in the right form of a machine that never existed. */
  readonly absentProviderId?: string;
  /** Provider IDs under the provider's prefix that cannot be one of its cloud's. */
  readonly malformedIds: readonly string[];
  readonly volume?: VolumeFixture;
  /** A handle in the right form of a volume that never existed. */
  readonly absentVolumeHandle?: string;
  /** A handle that cannot be one of the cloud's. */
  readonly malformedVolumeHandle?: string;
  /** What load balancers take that are made for tests. */
  readonly loadBalancer?: LoadBalancerFixture;
  /** Pod CIDRs that the cloud accepts routes for and that nothing else uses. Default: the ranges for documentation. */
  readonly routeCidrs?: readonly [string, string];
  /** A word planted in the provider's credentials: it must never be seen. */
  readonly canarySecret?: string;
  readonly limits?: RunLimits;
  /** URL on loopback of the cloud that the provider works with: it costs nothing, so the kit does not ask for confirmation. */
  readonly testCloud?: string;
  /** Without it nothing of level X runs that needs the cloud. */
  readonly scale?: ScaleFixture;
  /** What the kit may do to the cloud, and how. */
  readonly hooks?: Hooks;
}

/** Nothing but an endpoint. */
export const noFixtures: Fixtures = { malformedIds: [] };
