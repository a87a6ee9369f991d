import type { Stage } from "./stage.ts";

/** What is checked of a node, a Service, a route table: one story, told to both sides. */
export interface Scenario {
  /** `<controller>: <what happens>`; also the test's name. */
  readonly name: string;
  /** Rows of the differences page that this story has to show, and the only ones that it may. */
  readonly claims: readonly string[];
  /** Made before the first scenario of the session runs: for what has to be older than a minute. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Scenarios that run at the same time: none of them sees what another does. */
export type Batch = readonly Scenario[];

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
