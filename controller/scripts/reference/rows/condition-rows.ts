import { LOAD_BALANCER_REMEDIES, type LoadBalancerReadyReason } from "../../../src/api/load-balancer-condition.ts";
import { LoadBalancerSyncError, readinessOfFailure } from "../../../src/controllers/service/failure.ts";
import {
  deleting,
  driftNotRepaired,
  notServed,
  PROTECTED,
  PROVISIONING,
  type Readiness,
  readinessOf,
} from "../../../src/controllers/service/plan/status.ts";
import { contractError, ProviderError } from "../../../src/provider/model/errors.ts";
import { service } from "../../../test/support/builders.ts";

/** One reason of the condition on Services, as the code reports it. */
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
  unregistered: undefined,
  baseline: { kind: "unverified" },
  lockKey: "",
  ingress: [],
  operation: undefined,
};

const UNREGISTERED = {
  nodes: [{ name: "<node>", reason: "<reason>", message: "" }],
  fingerprint: "",
  tries: 1,
  triedAtMs: 0,
} as const;

function of(readiness: Readiness | undefined, when: string): ReadyRow {
  if (readiness === undefined) throw new Error(`no condition is reported when ${when}`);
  return { readiness, when };
}

/** The condition after an error of the contract. */
function after(reason: Parameters<typeof contractError>[0], when: string): ReadyRow {
  return of(readinessOfFailure(contractError(reason, WHAT)), when);
}

function because(reason: LoadBalancerReadyReason, nextTry: string, when: string): ReadyRow {
  return of(readinessOfFailure(new LoadBalancerSyncError(WHAT, { reason, nextTry })), when);
}

const RETRY_OF_REJECTED = "retrying when the Service or the provider changes, or in 30 minutes";

/** Every reason, `Ready` first. */
export const READY_ROWS: readonly ReadyRow[] = [
  of(readinessOf(SERVICE, DONE, 1), "it matches the spec of the Service"),
  of(readinessOf(SERVICE, DONE, 0), "it exists, and no Node is available to forward traffic to"),
  of(
    readinessOf(SERVICE, { ...DONE, unregistered: UNREGISTERED }, 2),
    "it serves, and the provider could not register some Nodes as targets",
  ),
  of(PROVISIONING, "it is being created"),
  of(
    readinessOf(SERVICE, { ...DONE, operation: { id: "", purpose: "ensure", pollAfterMs: 0 } }, 1),
    "a change of a load balancer that serves traffic is in progress",
  ),
  of(deleting(""), "the cloud is slow to delete it"),
  of(PROTECTED, "it is to be deleted, and the Service or the cloud protects it from deletion"),
  of(
    driftNotRepaired({ kind: "changed", what: "<what was changed>" }),
    "it was changed back in the cloud after each repair",
  ),
  because("LoadBalancerFailed", "retrying in 5 seconds to 5 minutes", "the provider reports that it failed"),
  because(
    "Rejected",
    RETRY_OF_REJECTED,
    "the provider cannot do what the Service requests; an existing load balancer keeps its previous configuration",
  ),
  after("QUOTA_EXCEEDED", "a quota of the cloud is exhausted"),
  after("NAME_TAKEN", "an address or a name is in use by another resource, which is left unchanged"),
  after("OWNED_BY_ANOTHER_CLUSTER", "the load balancer belongs to another cluster and is left unchanged"),
  after("FEATURE_UNSUPPORTED", "the Service requests a feature that the provider does not support"),
  after("CAPABILITY_ABSENT", "the provider does not support load balancers"),
  after("CLOUD_CREDENTIALS_INVALID", "the provider has no credentials, or the cloud rejects them"),
  after("CLOUD_PERMISSION_DENIED", "the cloud denies the provider a permission"),
  after(
    "CLOUD_SETUP_INVALID",
    "required setup is missing in the cloud or in the provider's settings, such as a tagged subnet",
  ),
  after("SCOPE_MISMATCH", "the provider now uses another account, project or region"),
  after("RATE_LIMITED", "the cloud is throttling requests"),
  after("OPERATION_IN_PROGRESS", "another change of the same object has been in progress for 30 seconds"),
  after("DEPENDENCY_IN_USE", "another resource in the cloud uses it"),
  after("CLOUD_UNAVAILABLE", "the provider cannot reach its cloud, or the cloud returns internal errors"),
  of(
    readinessOfFailure(new ProviderError({ code: "UNAVAILABLE", message: WHAT })),
    "the provider does not respond, from the second consecutive failure on",
  ),
  of(
    readinessOfFailure(contractError("PROVIDER_STARTING", WHAT, { failureReason: "ProviderNotReady" })),
    "the provider reports that it is not ready, and has never reached its cloud",
  ),
  of(
    readinessOfFailure(new ProviderError({ code: "UNAUTHENTICATED", reason: "PEER_REFUSED", message: WHAT })),
    "the handshake with the provider failed",
  ),
  of(notServed("<why>"), "no provider serves it; it is left unchanged"),
  after(
    "DEADLINE_PASSED",
    "a call ended without a response; the controller reads the outcome before it reports a failure",
  ),
  of(readinessOfFailure(new Error(WHAT)), "an unexpected error occurred"),
];

/** How to fix it. */
export function remedyOf({ reason }: Readiness): string {
  return LOAD_BALANCER_REMEDIES[reason] ?? "nothing";
}
