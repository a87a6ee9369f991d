import {
  ADOPT_LOAD_BALANCER,
  CHANGE_EPOCH,
  CLOUD_LABELS,
  DELETION_PROTECTION,
  DELETIONS_ANNOTATION_PREFIX,
  RELEASE_DELETION,
  SCOPE_ANNOTATION_PREFIX,
  SUCCESSOR_OFFERED,
  SUCCESSOR_WANTED,
} from "../../src/api/annotations.ts";
import { APPROVED } from "../../src/api/certificate-signing-request.ts";
import { LOAD_BALANCER_CLEANUP, SHUTDOWN, UNINITIALIZED } from "../../src/api/well-known.ts";
import { NETWORK_UNAVAILABLE } from "../../src/api/node.ts";
import { networkPatch } from "../../src/controllers/route/plan.ts";
import { asRecord, recordField, recordsField, stringField } from "../../src/util/json.ts";
import { node } from "../../test/support/builders.ts";

/** What is put on objects beside the condition of Services, and by which one knows how they stand. */
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

/** Every mark that controllers here put on objects, take off, or go by. */
export const MARK_ROWS: readonly MarkRow[] = [
  {
    object: "Node",
    mark: `taint \`${UNINITIALIZED}\``,
    who: `the kubelet puts it on, ${NODE} takes it off`,
    means: "the cloud's facts are not on the Node yet: nothing is scheduled there that does not tolerate it",
    todo: "what event `InitializeNodeFailed` or `InitializeNodeDelayed` of the Node says; without one wait: for 15 s for a machine the cloud does not show yet, 2 min for what may pass by itself, 5 min for an owner",
  },
  {
    object: "Node",
    mark: `taint \`${SHUTDOWN}\``,
    who: LIFECYCLE,
    means: "its machine is stopped; the Node stays",
    todo: "start the machine at the cloud, or delete it there",
  },
  {
    object: "Node",
    mark: network("routed"),
    who: ROUTE,
    means: "each of its pod ranges has a route",
    todo: "nothing",
  },
  {
    object: "Node",
    mark: network("unrouted"),
    who: ROUTE,
    means:
      "pods of other nodes do not reach its pods; kube-controller-manager keeps taint `node.kubernetes.io/network-unavailable` on it meanwhile",
    todo: "what event `FailedToCreateRoute` of the Node says; without one wait: the route is being made, the cloud throttles, or the machine is gone",
  },
  {
    object: "Node",
    mark: `annotation \`${CLOUD_LABELS}\``,
    who: NODE,
    means: "labels that came from the cloud and follow it",
    todo: "nothing",
  },
  {
    object: "Node",
    mark: `annotation \`${RELEASE_DELETION}\``,
    who: `an operator puts it on, ${LIFECYCLE} takes it off`,
    means: "the brake does not hold this Node",
    todo: "nothing: it goes as soon as the machine is seen again",
  },
  {
    object: "Service",
    mark: `finalizer \`${LOAD_BALANCER_CLEANUP}\``,
    who: SERVICE,
    means: "something may be at the cloud: the Service goes only after that has gone",
    todo: "what event `SyncLoadBalancerFailed` of the Service says. Taken off by hand, what is at the cloud stays there and costs",
  },
  {
    object: "Service",
    mark: `annotation \`${DELETION_PROTECTION}\``,
    who: "its user",
    means: "load balancer and Service are kept although the Service is deleted",
    todo: 'set it to `"false"`, if both are to go',
  },
  {
    object: "Service",
    mark: `annotation \`${ADOPT_LOAD_BALANCER}\``,
    who: "its user",
    means: "the load balancer with that id at the cloud shall be its own, with `--adopt-load-balancers`",
    todo: "take it off once the Service has its address; it means nothing any more",
  },
  {
    object: "CertificateSigningRequest",
    mark: `condition \`${APPROVED}=True\`, \`AutoApproved\`: \`The cloud says that <provider ID> is node <node> and has: <names>\``,
    who: "kubelet-serving-csr-approver",
    means: "the kubelet's request for a serving certificate names what the cloud says of its machine, and nothing else",
    todo: "nothing; what is not approved has event `KubeletServingCSRNotApproved`",
  },
  {
    object: "Lease",
    mark: `annotation \`${SCOPE_ANNOTATION_PREFIX}<provider>\``,
    who: LEADER,
    means: "the account, project or region in which the provider may change things",
    todo: "what event `ProviderScopeChanged` of the Lease says",
  },
  {
    object: "Lease",
    mark: `annotation \`${CHANGE_EPOCH}\``,
    who: LEADER,
    means: "by it providers refuse changes of a leader that was replaced",
    todo: "leave it alone: a smaller one would have every change refused",
  },
  {
    object: "Lease",
    mark: `annotation \`${DELETIONS_ANNOTATION_PREFIX}<provider>\``,
    who: LEADER,
    means: "how many of the provider's Nodes were deleted within the last 10 minutes, for the brake",
    todo: "leave it alone: one that cannot be read holds all deletions for 10 minutes",
  },
  {
    object: "Lease",
    mark: `annotation \`${SUCCESSOR_WANTED}\``,
    who: LEADER,
    means: "the leader is without a provider and looks for a replica that has it",
    todo: "see why the provider beside the leader does not answer",
  },
  {
    object: "Lease",
    mark: `annotation \`${SUCCESSOR_OFFERED}\``,
    who: "a standby",
    means: "a replica that can use the provider offers to lead",
    todo: "nothing",
  },
];
