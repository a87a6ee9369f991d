import type { ObjectKind, State } from "@cloudwire/operator-api";

/** What is the same of a reason wherever it is given. */
export interface ReasonRow {
  /** What it may be said of. */
  readonly of: readonly ObjectKind[];
  /** How an object stands that this is the first cause of. */
  readonly state: State;
  /** What stands in the way; told as it is where nobody says it more exactly. */
  readonly message: string;
  /** What somebody can do, as an instruction; absent: nothing, it passes by itself. */
  readonly remedy?: string;
  /** Page of the documentation. */
  readonly documentation: string;
}

/** Pages that several reasons send to. */
export const PAGES = {
  nodes: "docs/explanation/nodes.md",
  guard: "docs/explanation/deletion-guard.md",
  loadBalancers: "docs/explanation/load-balancers.md",
  several: "docs/explanation/several-providers.md",
  budget: "docs/explanation/call-budget.md",
  errors: "docs/reference/errors.md",
  observe: "docs/explanation/observe-mode.md",
  life: "docs/explanation/process-lifecycle.md",
  run: "docs/guides/run-the-controller.md",
  limits: "docs/guides/limits-and-capabilities.md",
  disaster: "docs/guides/disaster-recovery.md",
} as const;

export const ALL = ["node", "service", "route", "provider"] as const;
export const OBJECTS = ["node", "service", "route"] as const;
