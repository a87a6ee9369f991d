import {
  ADOPT_LOAD_BALANCER,
  CHANGE_EPOCH,
  CLOUD_LABELS,
  DELETION_PROTECTION,
  DELETIONS_ANNOTATION_PREFIX,
  APPROVE_DELETION,
  NODE_DELETION_PROTECTION,
  SCOPE_ANNOTATION_PREFIX,
  HANDOVER_CANDIDATE,
  HANDOVER_REQUESTED,
} from "../../../src/api/annotations.ts";
import { APPROVED } from "../../../src/api/certificate-signing-request.ts";
import { LOAD_BALANCER_CLEANUP, SHUTDOWN, UNINITIALIZED } from "../../../src/api/well-known.ts";
import { NETWORK_UNAVAILABLE } from "../../../src/api/node.ts";
import { networkPatch } from "../../../src/controllers/route/plan.ts";
import { asRecord, recordField, recordsField, stringField } from "../../../src/util/json.ts";
import { node } from "../../../test/support/builders.ts";

/** A status mark on an object, in addition to the condition on Services. */
export interface MarkRow {
  readonly object: string;
  readonly mark: string;
  readonly who: string;
  readonly means: string;
  readonly todo: string;
}

/** `NetworkUnavailable=True`, `NoRouteCreated`: `RouteController failed to create a route`. */
function network(said: "routed" | "unrouted"): string {
  const patch = asRecord(networkPatch(node("a"), said, 0), "patch");
  const [condition] = recordsField(recordField(patch, "status"), "conditions", (item) => item);
  const text = (key: string): string => stringField(condition ?? {}, key);
  return `condition \`${NETWORK_UNAVAILABLE}=${text("status")}\`, \`${text("reason")}\`: \`${text("message")}\``;
}

const NODE = "cloud-node-controller";
const LIFECYCLE = "cloud-node-lifecycle-controller";
const ROUTE = "node-route-controller";
const SERVICE = "service-lb-controller";
const LEADER = "cloud-controller-manager";

/** Every mark that the controllers add, remove or read. */
export const MARK_ROWS: readonly MarkRow[] = [
  {
    object: "Node",
    mark: `taint \`${UNINITIALIZED}\``,
    who: `added by the kubelet, removed by ${NODE}`,
    means: "the Node does not have its instance data yet; only pods that tolerate the taint are scheduled on it",
    todo: "see event `InitializeNodeFailed` or `InitializeNodeDelayed` of the Node; without one, wait: 15 s for an instance that the cloud does not list yet, 2 min for a temporary failure, 5 min for an owner",
  },
  {
    object: "Node",
    mark: `taint \`${SHUTDOWN}\``,
    who: LIFECYCLE,
    means: "its instance is stopped; the Node is kept",
    todo: "start or delete the instance in the cloud",
  },
  {
    object: "Node",
    mark: network("routed"),
    who: ROUTE,
    means: "each of its pod CIDRs has a route",
    todo: "nothing",
  },
  {
    object: "Node",
    mark: network("unrouted"),
    who: ROUTE,
    means:
      "pods of other Nodes cannot reach its pods; kube-controller-manager keeps taint `node.kubernetes.io/network-unavailable` on it",
    todo: "see event `FailedToCreateRoute` of the Node; without one, wait: the route is being created, the cloud throttles, or the instance no longer exists",
  },
  {
    object: "Node",
    mark: `annotation \`${CLOUD_LABELS}\``,
    who: NODE,
    means: "labels that the controller copied from the cloud and keeps current",
    todo: "nothing",
  },
  {
    object: "Node",
    mark: `annotation \`${APPROVE_DELETION}\``,
    who: `set by an operator, removed by ${LIFECYCLE}`,
    means: "the deletion of this Node is approved, even while the deletion circuit breaker is open",
    todo: "nothing: the controller removes it when it finds the instance",
  },
  {
    object: "Node",
    mark: `annotation \`${NODE_DELETION_PROTECTION}\``,
    who: "an operator",
    means:
      "the Node is not deleted, although its instance does not exist; it is still tainted while its instance is stopped",
    todo: "to let it be deleted, remove the annotation",
  },
  {
    object: "Service",
    mark: `finalizer \`${LOAD_BALANCER_CLEANUP}\``,
    who: SERVICE,
    means: "a load balancer may exist in the cloud; the Service is deleted after it",
    todo: "see event `SyncLoadBalancerFailed` of the Service. If you remove the finalizer, the load balancer stays in the cloud and incurs costs",
  },
  {
    object: "Service",
    mark: `annotation \`${DELETION_PROTECTION}\``,
    who: "the user",
    means: "protects the load balancer and the Service from deletion",
    todo: 'to delete both, set it to `"false"`',
  },
  {
    object: "Service",
    mark: `annotation \`${ADOPT_LOAD_BALANCER}\``,
    who: "the user",
    means: "with `--allow-load-balancer-adoption`, the Service adopts the existing load balancer with this ID",
    todo: "remove it once the Service has its address; it then has no effect",
  },
  {
    object: "CertificateSigningRequest",
    mark: `condition \`${APPROVED}=True\`, \`AutoApproved\`: \`The cloud says that <provider ID> is node <node> and has: <names>\``,
    who: "kubelet-serving-csr-approver",
    means: "the names and addresses in the kubelet's request for a serving certificate match the instance data",
    todo: "nothing; a request that is not approved has event `KubeletServingCSRNotApproved`",
  },
  {
    object: "Lease",
    mark: `annotation \`${SCOPE_ANNOTATION_PREFIX}<provider>\``,
    who: LEADER,
    means: "the account, project or region in which the provider may change things",
    todo: "see event `ProviderScopeChanged` of the Lease",
  },
  {
    object: "Lease",
    mark: `annotation \`${CHANGE_EPOCH}\``,
    who: LEADER,
    means: "providers use it to reject changes of a replaced leader",
    todo: "do not change it: with a smaller value providers reject every change",
  },
  {
    object: "Lease",
    mark: `annotation \`${DELETIONS_ANNOTATION_PREFIX}<provider>\``,
    who: LEADER,
    means: "how many of the provider's Nodes were deleted within the last 10 minutes, for the deletion circuit breaker",
    todo: "do not change it: an unreadable value stops all deletions for 10 minutes",
  },
  {
    object: "Lease",
    mark: `annotation \`${HANDOVER_REQUESTED}\``,
    who: LEADER,
    means: "the leader cannot use a provider and requests a handover to a replica that can",
    todo: "check why the provider next to the leader does not respond",
  },
  {
    object: "Lease",
    mark: `annotation \`${HANDOVER_CANDIDATE}\``,
    who: "a standby",
    means: "a replica that can use the provider is the candidate for the handover",
    todo: "nothing",
  },
];
