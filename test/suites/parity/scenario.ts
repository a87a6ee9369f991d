import type { PeerFlags } from "./peers/peer.ts";
import type { Stage } from "./stage.ts";

/**
 * A documented difference that a scenario shows: the ID of a row in report/explanations.ts, or a pattern of the difference if it has another
 * form in this scenario. `sometimes`: upstream has a race, so the difference may not occur.
 */
export type Claim = string | { readonly id: string; readonly explains: RegExp; readonly sometimes?: true };

/** The same steps for upstream and for Cloudwire, on a Node, a Service or a route table. */
export interface Scenario {
  /** `<controller>: <what happens>`; also the title of the test. */
  readonly name: string;
  /** The differences that must occur. Others fail the test. */
  readonly claims: readonly Claim[];
  /** Runs before the programs start, for objects that must exist then or be older than a minute. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** Runs before all scenarios of the batch; not compared. */
  readonly arrange?: (stage: Stage) => Promise<void>;
  /** Runs while the controllers are stopped; only in batches with a restart. */
  readonly away?: (stage: Stage) => Promise<void>;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Scenarios that run concurrently and do not affect each other. */
export interface Batch {
  readonly scenarios: readonly Scenario[];
  /** Whether the controllers are restarted between `arrange` and `run`. */
  readonly restart?: true;
}

/** Batches that run one after the other, with the same processes. */
export interface Session {
  readonly name: string;
  readonly flags: PeerFlags;
  /** Whether there are two nodes that are targets of every load balancer. */
  readonly pool: boolean;
  readonly batches: readonly Batch[];
}
