import { ALL, OBJECTS, PAGES, type ReasonRow, rowsOf } from "./row.ts";

/** Causes in the controller itself. */
export const PROGRAM_REASONS = {
  ControllerDisabled: rowsOf(OBJECTS, PAGES.run)(
    "unmanaged",
    "The controller for it is disabled.",
    "Enable the controller with --controllers if this program should manage the object.",
  ),
  ControllerRestarting: rowsOf(OBJECTS, PAGES.life)(
    "waiting",
    "The controller for it failed with an internal error and is restarting.",
    "Report the error with the error lines of the controller's log.",
  ),
  InternalError: rowsOf(ALL, PAGES.life)(
    "waiting",
    "Its last reconcile failed with an internal error. It is retried with back-off.",
    "Report the error with the line of the controller's log that has the reconcileID.",
  ),
  ObserveMode: rowsOf(OBJECTS, "docs/explanation/observe-mode.md")(
    "unmanaged",
    "Its changes are planned but not made, because its controller or its provider is in observe mode (--mode).",
    "Review the plan with `cloudwire plan`. To make the changes, set --mode=active.",
  ),
  NotLeader: rowsOf(OBJECTS, "docs/explanation/high-availability.md")(
    "waiting",
    "This replica is not the leader: it has the object, but not the reconcile state.",
    "Query the leader.",
  ),
  CacheNotSynced: rowsOf(ALL, PAGES.run)(
    "waiting",
    "The caches of this replica are not synced yet.",
    "If this persists, check /readyz and the controller's log: the API server may reject the controller.",
  ),
  Deleted: rowsOf(OBJECTS, "docs/reference/explain.md")(
    "unmanaged",
    "It no longer exists in the cluster.",
    "Run `cloudwire orphans` to find resources of it that remain in the cloud.",
  ),
  NotFound: rowsOf(ALL, PAGES.run)(
    "unmanaged",
    "No such object exists, and there is no history of one.",
    "Check the name with `kubectl get`. A route is named after its Node, a provider as in --provider. Objects deleted before this process started have no history: `cloudwire orphans` finds their resources in the cloud.",
  ),
  APIServerError: rowsOf(OBJECTS, "docs/reference/permissions.md")(
    "waiting",
    "The API server rejected a write. It is retried with back-off.",
    "Check that the API server is healthy and that the controller has its permissions (docs/reference/permissions.md).",
  ),
  SyncFailed: rowsOf(ALL, PAGES.life)(
    "waiting",
    "Its last reconcile failed. It is retried with back-off.",
    "Look up the reconcileID in the controller's log.",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;
