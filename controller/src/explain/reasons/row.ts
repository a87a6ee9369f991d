import type { ObjectKind, State } from "@cloudwire/operator-api";

/** The fixed part of a reason. */
export interface ReasonRow {
  /** Kinds of objects that can have it. */
  readonly of: readonly ObjectKind[];
  /** State of an object whose first cause this is. */
  readonly state: State;
  /** Default message. */
  readonly message: string;
  /** Instruction for the operator; absent: the problem resolves automatically. */
  readonly remedy?: string;
  /** Page of the documentation. */
  readonly documentation: string;
}

/** Makes rows for the same kinds of objects, documented on the same page. */
export function rowsOf(of: ReasonRow["of"], documentation: string) {
  return (state: State, message: string, remedy?: string): ReasonRow => ({
    of,
    state,
    message,
    ...(remedy === undefined ? {} : { remedy }),
    documentation,
  });
}

/** Pages that several groups of reasons refer to. */
export const PAGES = {
  nodes: "docs/explanation/nodes.md",
  loadBalancers: "docs/explanation/load-balancers.md",
  several: "docs/explanation/several-providers.md",
  errors: "docs/reference/errors.md",
  life: "docs/explanation/process-lifecycle.md",
  run: "docs/guides/run-the-controller.md",
  limits: "docs/guides/limits-and-capabilities.md",
} as const;

export const ALL = ["node", "service", "route", "provider"] as const;
export const OBJECTS = ["node", "service", "route"] as const;
