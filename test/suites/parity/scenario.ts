import type { Stage } from "./stage.ts";

/**
 * A row of the differences page that a scenario shows: by its id what report/explanations.ts says of it, or whatever the pattern says
 * where the row shows in a way that is this scenario's alone. `sometimes`: upstream races with itself there, so that it need not show.
 */
export type Claim = string | { readonly id: string; readonly explains: RegExp; readonly sometimes?: true };

/** What is checked of a node, a Service, a route table: the same steps for both sides. */
export interface Scenario {
  /** `<controller>: <what happens>`; also the test's name. */
  readonly name: string;
  /** Rows of the differences page that this story has to show, and the only ones that it may. */
  readonly claims: readonly Claim[];
  /** Made before the programs start: for what has to be older than a minute, or there from the beginning. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** Made before any scenario of the batch runs; it does not count. */
  readonly arrange?: (stage: Stage) => Promise<void>;
  /** What happens while the controllers are away; only in batches with a restart. */
  readonly away?: (stage: Stage) => Promise<void>;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Scenarios that run at the same time: none of them sees what another does. */
export interface Batch {
  readonly scenarios: readonly Scenario[];
  /** Whether the controllers are ended and started again between `arrange` and `run`. */
  readonly restart?: true;
}

/** Scenarios that the same run of the programs serves, batch after batch. */
export interface Session {
  readonly name: string;
  readonly flags: {
    readonly both: readonly string[];
    readonly upstream: readonly string[];
    readonly ours: readonly string[];
  };
  /** Whether there are two nodes that every load balancer forwards to. */
  readonly pool: boolean;
  readonly batches: readonly Batch[];
}
