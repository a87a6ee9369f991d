import { ALL, OBJECTS, PAGES, type ReasonRow } from "./row.ts";

/** What this program itself has to do with it. */
export const PROGRAM_REASONS = {
  ControllerOff: {
    of: OBJECTS,
    state: "unmanaged",
    message: "The controller that would see to it is not turned on.",
    remedy: "Turn it on with --controllers, if this program is to do it.",
    documentation: PAGES.run,
  },
  ControllerRestarting: {
    of: OBJECTS,
    state: "waiting",
    message: "The controller that sees to it broke by a fault of this program; a fresh one starts after a while.",
    remedy: "Report the fault with the lines of level error of the controller's log.",
    documentation: PAGES.life,
  },
  ProgramFault: {
    of: ALL,
    state: "waiting",
    message: "Its last reconcile hit a fault of this program; it is tried again with back-off.",
    remedy: "Report the fault with the line of the controller's log that has the reconcileId.",
    documentation: PAGES.life,
  },
  OnlyObserved: {
    of: OBJECTS,
    state: "unmanaged",
    message: "What it needs is planned and not done, because its controller or its provider is observed (--mode).",
    remedy: "Look at what would be done with `cloudwire plan`; to have it done, set --mode=active.",
    documentation: PAGES.observe,
  },
  NotTheLeader: {
    of: OBJECTS,
    state: "waiting",
    message: "This replica does not lead: it knows the object, and not what is being done about it.",
    remedy: "Ask the replica that leads.",
    documentation: "docs/explanation/high-availability.md",
  },
  CacheNotFilled: {
    of: ALL,
    state: "waiting",
    message: "This replica has not read the cluster yet.",
    remedy: "If it lasts, look at /readyz and at the controller's log: the API server may refuse it.",
    documentation: PAGES.run,
  },
  GoneFromCluster: {
    of: OBJECTS,
    state: "unmanaged",
    message: "It is not in the cluster any more.",
    remedy: "See with `cloudwire orphans` whether something of it is left at a cloud.",
    documentation: "docs/reference/explain.md",
  },
  NotInCluster: {
    of: ALL,
    state: "unmanaged",
    message: "There is no such object, and nothing is remembered of one.",
    remedy:
      "See how it is called with `kubectl get`; a route is named for its Node, a provider as --provider names it. What was gone before this process began is not remembered: `cloudwire orphans` finds what is left of it at a cloud.",
    documentation: PAGES.run,
  },
  ApiServerRefused: {
    of: OBJECTS,
    state: "waiting",
    message: "The API server did not take a write; it is tried again with back-off.",
    remedy: "See that the API server is well and that the controller has its rights (docs/reference/permissions.md).",
    documentation: "docs/reference/permissions.md",
  },
  UnexpectedFailure: {
    of: ALL,
    state: "waiting",
    message: "Its last reconcile failed; it is tried again with back-off.",
    remedy: "Look at the line of the controller's log that has the reconcileId.",
    documentation: PAGES.life,
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;
