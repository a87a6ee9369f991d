import { CLOUD_CONTROLLER_MANAGER, EVENT_SOURCES } from "../../../src/api/controller-names.ts";
import {
  type EventInput,
  type EventType,
  LEADERSHIP_HANDOVER,
  LEADER_ELECTION,
  LEADER_PROVIDER_UNAVAILABLE,
  PROVIDER_SCOPE_CHANGED,
} from "../../../src/api/event.ts";
import * as kubeletServing from "../../../src/controllers/kubelet-serving-csr-approver/events.ts";
import * as nodes from "../../../src/controllers/node/events.ts";
import * as nodeIpam from "../../../src/controllers/node-ipam/events.ts";
import * as nodeLifecycle from "../../../src/controllers/node-lifecycle/events.ts";
import * as persistentVolumes from "../../../src/controllers/persistent-volume-label/events.ts";
import * as routes from "../../../src/controllers/route/events.ts";
import * as changes from "../../../src/provider/observers/events.ts";
import { auditLine } from "../../../src/provider/observers/audit.ts";
import * as services from "../../../src/controllers/service/events.ts";
import { csr } from "../../../test/support/node/builders-csr.ts";
import { node, service } from "../../../test/support/builders.ts";
import { persistentVolume } from "../../../test/support/provider/volume-builders.ts";

/** One event as its code makes it, with placeholders for the variable parts. */
export interface EventRow {
  /** The function that makes it; undefined: it has no function of its own. */
  readonly make: unknown;
  readonly source: string;
  readonly event: EventInput;
  readonly when: string;
  /** The action for operators. */
  readonly todo: string;
}

/** Every function that makes an event. events-page.test.ts finds one that no row calls. */
export const EVENT_MAKERS = [
  kubeletServing,
  nodes,
  nodeIpam,
  nodeLifecycle,
  persistentVolumes,
  routes,
  services,
  changes,
].flatMap((module) => Object.values<unknown>({ ...module }).filter((made) => typeof made === "function"));

const NODE = node("<node>");
const SERVICE = service("<service>");
const VOLUME = persistentVolume("<volume>");
const REQUEST = csr();
const CHANGED = auditLine({
  provider: "<provider>",
  method: "EnsureLoadBalancer",
  requestId: "<id>",
  work: undefined,
  startMs: 0,
  durationMs: 0,
  request: { change: { trigger: "<why>" } },
  outcome: { response: { stats: { cloudRequestIds: ["<id>"] } } },
});
const QUOTA = { limit: 50, used: 50 };

const NOTHING = "nothing";
const AS_MESSAGE = "see the message";
const BY_REASON = "see the message and the [reason of the condition](conditions.md#the-condition-on-services)";

function rowsOf(source: string) {
  return <Args extends readonly unknown[]>(
    make: (...args: Args) => EventInput,
    args: Args,
    when: string,
    todo = NOTHING,
  ): EventRow => {
    return { make, source, event: make(...args), when, todo };
  };
}

const ofNode = rowsOf(EVENT_SOURCES.cloudNode);
const ofLifecycle = rowsOf(EVENT_SOURCES.cloudNodeLifecycle);
const ofService = rowsOf(EVENT_SOURCES.service);
const ofRoute = rowsOf(EVENT_SOURCES.route);
const ofIpam = rowsOf(EVENT_SOURCES.nodeIpam);
const ofVolume = rowsOf(EVENT_SOURCES.persistentVolumeLabel);
const ofProcess = rowsOf(CLOUD_CONTROLLER_MANAGER);
const ofServing = rowsOf(EVENT_SOURCES.kubeletServing);

function ofLease(reason: string, type: EventType, message: string, when: string, todo = NOTHING): EventRow {
  const regarding = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace: "", name: "", uid: "" };
  return { make: undefined, source: CLOUD_CONTROLLER_MANAGER, event: { regarding, type, reason, message }, when, todo };
}

const diagnostic = (severity: "info" | "warning") => {
  return {
    severity,
    reason: "<reason of the provider>",
    summary: "<summary>",
    detail: "<detail>",
    field: "",
    helpUrl: "",
  };
};

/** Every event, by source. */
export const EVENT_ROWS: readonly EventRow[] = [
  ofNode(nodes.synced, [NODE], "the Node has its instance data, and the taint is removed"),
  ofNode(
    nodes.initializeNodeFailed,
    [NODE, "<why>", "absent"],
    "a retry alone does not fix it: the provided node IP is not an address of the instance, the name is ambiguous, the provider ID is malformed, a label is invalid, the instance has not been found for 15 s, or no provider has owned the Node for 5 min; repeated after 30 min",
    AS_MESSAGE,
  ),
  ofNode(
    nodes.initializeNodeDelayed,
    [NODE, "<why>", "provider"],
    "the cloud, the provider or the API server has been failing for 2 min, or the cloud has reported the instance without IP address for 15 s; retries continue; repeated after 30 min",
    AS_MESSAGE,
  ),
  ofNode(
    nodes.differs,
    [NODE, { field: "providerID", message: "<difference>" }],
    "its provider ID belongs to another instance; nothing is overwritten",
    AS_MESSAGE,
  ),
  ofNode(
    nodes.differs,
    [NODE, { field: "zone", message: "<difference>" }],
    "zone, region, instance type, addresses or labels differ from the instance data; they are not changed",
    "check which value is correct",
  ),
  ofLifecycle(nodeLifecycle.deletingNode, [NODE], "before the deletion"),
  ofLifecycle(
    nodeLifecycle.deletingNodeFailed,
    [NODE, "<error>"],
    "the API server rejected the deletion; not if the Node had changed",
    "check why the API server rejects it; retries continue",
  ),
  ofLifecycle(
    nodeLifecycle.nodeDeletionDelayed,
    [NODE, { reason: "confirming", message: "<why>" }],
    "the cloud has reported its instance absent for 5 min, and the Node is not deleted; immediately if it has no provider ID, is protected, or its provider is not trusted; each reason is repeated after 30 min",
    AS_MESSAGE,
  ),
  ofLifecycle(
    nodeLifecycle.nodeDeletionDelayed,
    [NODE, { reason: "unknown", message: "<why>" }],
    "the Node has not been Ready for 5 min, and its provider does not know the state of its instance; repeated after 30 min",
    AS_MESSAGE,
  ),
  ofLifecycle(
    nodeLifecycle.nodeDeletionDelayed,
    [NODE, { reason: "tooManyNodeDeletions", message: "<why>" }],
    "more Nodes would be deleted within 10 min than the limit allows; repeated after 30 min",
    AS_MESSAGE,
  ),
  ofService(services.ensuringLoadBalancer, [SERVICE], "before the request to create or update the load balancer"),
  ofService(
    services.adoptingLoadBalancer,
    [SERVICE, "<load balancer>"],
    "before the request to adopt an existing load balancer",
  ),
  ofService(services.ensuredLoadBalancer, [SERVICE], "the load balancer matches the spec of the Service"),
  ofService(services.updatedLoadBalancer, [SERVICE], "the nodes of the load balancer were updated"),
  ofService(
    services.unavailableLoadBalancer,
    [SERVICE],
    "no Node is available for the load balancer",
    "check which Nodes are initialized, and which a label excludes",
  ),
  ofService(
    services.syncLoadBalancerFailed,
    [SERVICE, "<error>"],
    "the load balancer could not be created, updated or deleted, or the provider has been busy with it for 30 s",
    BY_REASON,
  ),
  ofService(
    services.updateLoadBalancerFailed,
    [SERVICE, ["<node>"], "<error>"],
    "its nodes could not be updated",
    BY_REASON,
  ),
  ofService(services.deletingLoadBalancer, [SERVICE], "before the request to delete the load balancer"),
  ofService(
    services.waitingForDeletion,
    [SERVICE, "<detail>", []],
    "the cloud has not deleted everything; the message names what is left and what the deletion waits for",
  ),
  ofService(services.deletedLoadBalancer, [SERVICE], "the load balancer is deleted"),
  ofService(
    services.deleteLoadBalancerFailed,
    [SERVICE, "<error>"],
    "the load balancer could not be deleted, and the Service no longer exists",
    BY_REASON,
  ),
  ofService(
    services.featureIgnored,
    [SERVICE, "<field>", "<ignored feature>"],
    "the Service requests a feature that its provider does not support; the load balancer works without it",
    "remove the feature, or use a provider that supports it",
  ),
  ofService(
    services.nodesNotRegistered,
    [SERVICE, "<nodes>", []],
    "the provider could not register Nodes as targets, for example because their instances are stopped",
    AS_MESSAGE,
  ),
  ofService(
    services.loadBalancerDrifted,
    [SERVICE, "<what>"],
    "another client changed the load balancer in the cloud",
    "if it recurs, find out what changes the load balancer in the cloud",
  ),
  ofService(
    services.driftNotRepaired,
    [SERVICE, "<what>"],
    "another client changed it back after each repair",
    AS_MESSAGE,
  ),
  ofService(
    services.loadBalancerDeletionProtected,
    [SERVICE],
    "the load balancer is to be deleted, and deletion protection is on",
    AS_MESSAGE,
  ),
  ofService(
    services.loadBalancerRetained,
    [SERVICE, "<id>"],
    "the Service was deleted while deletion protection was on",
    AS_MESSAGE,
  ),
  ofService(
    services.noLoadBalancerProvider,
    [SERVICE, "<why>"],
    "its provider, after a change of version or configuration, no longer serves load balancers; once",
    AS_MESSAGE,
  ),
  ofService(
    services.deletedPreviousLoadBalancer,
    [SERVICE, "<provider>", "<id>"],
    "another provider now serves the Service",
  ),
  ofService(
    services.deletePreviousLoadBalancerFailed,
    [SERVICE, "<provider>", "<error>"],
    "another provider now serves the Service; retries continue",
    BY_REASON,
  ),
  ofService(services.diagnosed, [SERVICE, diagnostic("info")], "the provider returned a diagnostic for the user"),
  ofService(
    services.diagnosed,
    [SERVICE, diagnostic("warning")],
    "the provider returned a diagnostic of severity warning or error",
    AS_MESSAGE,
  ),
  ofRoute(
    routes.failedToCreateRoute,
    [NODE, "<hint>", "<cidr>", "<error>"],
    "a route could not be created; not while the cloud throttles, and after a restart of the provider only the second time",
    AS_MESSAGE,
  ),
  ofRoute(routes.routeTableNearlyFull, ["<provider>", QUOTA, 80], "the route table is nearly full; once", AS_MESSAGE),
  ofRoute(routes.routeTableFull, ["<provider>", QUOTA], "the route table is full; once", AS_MESSAGE),
  ofIpam(
    nodeIpam.cidrNotAvailable,
    [NODE],
    "no pod CIDR is free; immediately, and every 5 min",
    "add a range to `--cluster-cidr`, or remove Nodes",
  ),
  ofIpam(
    nodeIpam.cloudCidrNotAvailable,
    [NODE, "<why>"],
    "`--cidr-allocator-type=CloudAllocator`, and the cloud has no ranges for it",
    "check in the cloud why the instance has no range",
  ),
  ofIpam(
    nodeIpam.cidrAssignmentFailed,
    [NODE],
    "the API server did not take the ranges three times in a row",
    "check why the API server rejects it; retries continue",
  ),
  ofVolume(
    persistentVolumes.topologyMismatch,
    [VOLUME, "<difference>"],
    "the topology of the PersistentVolume differs from the cloud's",
    "check which value is correct",
  ),
  ofVolume(persistentVolumes.notLabeled, [VOLUME, "<why>"], "it gets no labels until something changes", AS_MESSAGE),
  ofServing(
    kubeletServing.requestNotApproved,
    [REQUEST, { kind: "objection", reason: "wrongNames", message: "<why>" }],
    "the request is invalid, or the cloud has not confirmed it yet",
    AS_MESSAGE,
  ),
  ofServing(
    kubeletServing.nodeWithoutCertificate,
    [NODE, { kind: "objection", reason: "instanceNotFound", message: "<why>" }],
    "the request is invalid, or the cloud has not confirmed it yet; reported on the Node",
    AS_MESSAGE,
  ),
  ofProcess(
    changes.loadBalancerCalled,
    [CHANGED, { namespace: "<namespace>", name: "<service>", uid: "" }],
    "`--audit-events`: a call that changes a load balancer was completed",
  ),
  ofProcess(
    changes.routeCalled,
    [CHANGED, { node: "<node>", destinationCidr: "<cidr>", code: "ABORTED", reason: "<reason>" }],
    "`--audit-events`: a call that changes a route failed",
    "see the other events of the object",
  ),
  ofLease(LEADER_ELECTION, "Normal", "<identity> became leader", "this process became the leader"),
  ofLease(LEADER_ELECTION, "Normal", "<identity> stopped leading", "this process is no longer the leader"),
  ofLease(
    PROVIDER_SCOPE_CHANGED,
    "Warning",
    "Provider <provider>: <what changed, and how to fix it>",
    "the credentials of a provider give access to another account, project or region: the provider changes nothing until an operator accepts the new scope",
    AS_MESSAGE,
  ),
  ofLease(
    LEADER_PROVIDER_UNAVAILABLE,
    "Warning",
    "<identity> cannot use <providers> since <time>; requests a handover to a replica that can",
    "the leader has not been able to use a provider for `--leader-elect-provider-timeout`",
    "check why the provider next to the leader does not respond",
  ),
  ofLease(
    LEADERSHIP_HANDOVER,
    "Warning",
    "<identity> <why>",
    "the leader gives up leadership to a replica that can use the provider",
  ),
];
