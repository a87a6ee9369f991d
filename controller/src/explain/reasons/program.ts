import { ALL, OBJECTS, PAGES, type ReasonRow, rowsOf } from "./row.ts";

/** Causes in the controller itself. */
export const PROGRAM_REASONS = {
  ControllerDisabled: rowsOf(OBJECTS, PAGES.run)(
    "unmanaged",
    "The controller for this kind of object is disabled.",
    "Enable the controller with --controllers if this program should manage the object.",
  ),
  ControllerRestarting: rowsOf(OBJECTS, PAGES.life)(
    "waiting",
    "The controller for this kind of object failed with an internal error and is restarting.",
    "Report the bug, and include the errors from the controller's log.",
  ),
  InternalError: rowsOf(ALL, PAGES.life)(
    "waiting",
    "The last reconcile failed with an internal error. The controller retries with back-off.",
    "Report the bug, and include the line of the controller's log that has the reconcileID.",
  ),
  ObserveMode: rowsOf(OBJECTS, "docs/explanation/observe-mode.md")(
    "unmanaged",
    "The controller plans changes but does not make them: the controller or the provider is in observe mode (--mode).",
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
    "The object no longer exists in the cluster.",
    "To find its remaining resources in the cloud, run `cloudwire orphans`.",
  ),
  NotFound: rowsOf(ALL, PAGES.run)(
    "unmanaged",
    "The object does not exist and has no history.",
    "Check the name with `kubectl get`. A route is named after its Node, a provider as in --provider. Objects deleted before this process started have no history: `cloudwire orphans` finds their resources in the cloud.",
  ),
  APIServerError: rowsOf(OBJECTS, "docs/reference/permissions.md")(
    "waiting",
    "The API server rejected a write. The controller retries with back-off.",
    "Check that the API server is healthy and that the controller has its permissions (docs/reference/permissions.md).",
  ),
  SyncFailed: rowsOf(ALL, PAGES.life)(
    "waiting",
    "The last reconcile failed. The controller retries with back-off.",
    "Look up the reconcileID in the controller's log.",
  ),
} as const satisfies Readonly<Record<string, ReasonRow>>;
