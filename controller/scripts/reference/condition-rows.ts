import { LOAD_BALANCER_REMEDIES, type LoadBalancerReadyReason } from "../../src/api/load-balancer-condition.ts";
import { LoadBalancerSyncError, readinessOfFailure } from "../../src/controllers/service/failure.ts";
import {
  DELETING,
  driftNotRepaired,
  notServed,
  PROTECTED,
  PROVISIONING,
  type Readiness,
  readinessOf,
} from "../../src/controllers/service/plan/status.ts";
import { contractError } from "../../src/provider/model/errors.ts";
import { service } from "../../test/support/builders.ts";

/** One reason of the condition on Services, as the code says it. */
export interface ReadyRow {
  readonly readiness: Readiness;
  readonly when: string;
}

const SERVICE = service("<service>");
const WHAT = "<what went wrong>";

/** A load balancer as a provider acknowledged it. */
const DONE: Parameters<typeof readinessOf>[1] = {
  service: SERVICE,
  provider: "<provider>",
  loadBalancerID: "<id>",
  spec: undefined,
  specFingerprint: "",
  nodesFingerprint: "",
  observedFingerprint: "",
  lockKey: "",
  ingress: [],
  operation: undefined,
};

function of(readiness: Readiness | undefined, when: string): ReadyRow {
  if (readiness === undefined) throw new Error(`nothing is said where ${when}`);
  return { readiness, when };
}

/** What is said after an error of the contract. */
function after(reason: Parameters<typeof contractError>[0], when: string): ReadyRow {
  return of(readinessOfFailure(contractError(reason, WHAT)), when);
}

function because(reason: LoadBalancerReadyReason, nextTry: string, when: string): ReadyRow {
  return of(readinessOfFailure(new LoadBalancerSyncError(WHAT, { reason, nextTry })), when);
}

const REFUSED_AGAIN = "tried again when the Service or the provider changes, or after 30 minutes";

/** Every reason there is, beginning with what is well. */
export const READY_ROWS: readonly ReadyRow[] = [
  of(readinessOf(SERVICE, DONE, 1), "it is as the Service wishes"),
  of(readinessOf(SERVICE, DONE, 0), "it stands, and there is no node that it could forward to"),
  of(PROVISIONING, "it is being made"),
  of(
    readinessOf(SERVICE, { ...DONE, operation: { id: "", purpose: "ensure", pollAfterMs: 0 } }, 1),
    "a change of one that serves is under way",
  ),
  of(DELETING, "the cloud takes its time to take it down"),
  of(PROTECTED, "it would be deleted, and the Service or the cloud says that it must not"),
  of(
    driftNotRepaired({ kind: "changed", what: "<what was changed>" }),
    "somebody at the cloud changes it back each time",
  ),
  because("LoadBalancerFailed", "tried again after 5 seconds to 5 minutes", "the provider says that it is broken"),
  because(
    "Rejected",
    REFUSED_AGAIN,
    "the provider cannot do what the Service asks for; a load balancer of an earlier wish is kept up",
  ),
  after("QUOTA_EXCEEDED", "a quota of the cloud is used up"),
  after("NAME_TAKEN", "an address, a name or the load balancer itself is somebody else's, and is left to them"),
  after("CLOUD_PERMISSION_DENIED", "the cloud does not let the provider do it, or works in another scope than before"),
  after("RATE_LIMITED", "the cloud takes no more calls for now"),
  after("OPERATION_IN_PROGRESS", "another change of the same object has been under way for half a minute"),
  after("CLOUD_UNAVAILABLE", "provider or cloud cannot be reached, from the second failure in a row on"),
  of(notServed("<why>"), "no provider serves it any more; it is left as it is"),
  after("DEADLINE_PASSED", "a call ended without an answer; it is asked again, never taken for failed"),
  of(readinessOfFailure(new Error(WHAT)), "something happened that nobody foresaw"),
];

/** What somebody can do about it. */
export function remedyOf({ reason }: Readiness): string {
  return LOAD_BALANCER_REMEDIES[reason] ?? "nothing";
}
