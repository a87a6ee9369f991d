/** One machine of the vendor's that runs and that nobody changes meanwhile. */
export interface InstanceFixture {
  readonly providerId: string;
  readonly nodeName: string;
  /** Compared when given. */
  readonly type?: string;
  readonly zone?: string;
  readonly region?: string;
  readonly addresses?: readonly string[];
}

/** What the vendor's load balancers cannot do without. */
export interface LoadBalancerFixture {
  readonly class?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** How long one may take to serve, and to be gone. Default: 10 min. */
  readonly timeoutMs?: number;
}

/** What a vendor supplies beyond the endpoint. Each item lets more checks run. */
export interface Fixtures {
  readonly instance?: InstanceFixture;
  /** A provider ID in the right form of a machine that never existed. */
  readonly absentProviderId?: string;
  /** Provider IDs under the provider's prefix that cannot be one of its cloud's. */
  readonly malformedIds: readonly string[];
  /** What load balancers take that are made for tests. */
  readonly loadBalancer?: LoadBalancerFixture;
  /** Pod ranges that the cloud takes routes for and that nobody else uses. Default: ranges for documentation. */
  readonly routeCidrs?: readonly [string, string];
  /** A word planted in the provider's credentials: it must never be seen. */
  readonly canarySecret?: string;
}

/** Nothing but an endpoint. */
export const noFixtures: Fixtures = { malformedIds: [] };
