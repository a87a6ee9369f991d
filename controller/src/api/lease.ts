import type { KubeObject } from "./meta.ts";

/** coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  readonly spec: LeaseSpec;
}

export interface LeaseSpec {
  /** "" if the Lease is free. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** Microseconds, as the server writes it: "2026-11-21T12:00:00.000000Z". Only compared. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

/** The second Lease, under which controllers move out of kube-controller-manager (KEP-2436). */
export const MIGRATION_LEASE_NAME = "cloud-provider-extraction-migration";
