import { CLOUD_CONTROLLER_MANAGER, EVENT_SOURCES } from "../../src/api/controller-names.ts";
import {
  type EventInput,
  type EventType,
  LEADERSHIP_HANDOVER,
  LEADER_ELECTION,
  LEADER_PROVIDER_UNAVAILABLE,
  PROVIDER_SCOPE_CHANGED,
} from "../../src/api/event.ts";
import * as kubeletServing from "../../src/controllers/kubelet-serving-csr-approver/events.ts";
import * as nodes from "../../src/controllers/node/events.ts";
import * as nodeIpam from "../../src/controllers/node-ipam/events.ts";
import * as nodeLifecycle from "../../src/controllers/node-lifecycle/events.ts";
import * as persistentVolumes from "../../src/controllers/persistent-volume-label/events.ts";
import * as routes from "../../src/controllers/route/events.ts";
import * as changes from "../../src/provider/observers/events.ts";
import { auditLine } from "../../src/provider/observers/audit.ts";
import * as services from "../../src/controllers/service/events.ts";
import { csr } from "../../test/support/node/builders-csr.ts";
import { node, service } from "../../test/support/builders.ts";
import { persistentVolume } from "../../test/support/provider/volume-builders.ts";

/** One event as its code makes it, with placeholders for what varies. */
export interface EventRow {
  /** What makes it; undefined: it is made where it is said. */
  readonly make: unknown;
  readonly source: string;
  readonly event: EventInput;
  readonly when: string;
  /** What somebody is to do. */
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
const AS_SAID = "what the message says";
const BY_REASON = "what the message says, by [reason](conditions.md#the-condition-on-services)";

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

/** Every event there is, by who says it. */
export const EVENT_ROWS: readonly EventRow[] = [
  ofNode(nodes.synced, [NODE], "the Node has the cloud's facts and has lost its taint"),
  ofNode(
    nodes.initializeNodeFailed,
    [NODE, "<why>", "absent"],
    "waiting does not help: the provided node IP is not the machine's, the name is ambiguous, the ID malformed, a label impossible, the machine unknown for 15 s, no provider the owner for 5 min; again after 30 min",
    AS_SAID,
  ),
  ofNode(
    nodes.initializeNodeDelayed,
    [NODE, "<why>", "provider"],
    "cloud, provider or API server have been in the way for 2 min; it is tried on; again after 30 min",
    AS_SAID,
  ),
  ofNode(
    nodes.differs,
    [NODE, { field: "providerID", message: "<difference>" }],
    "its provider ID is another machine's; nothing is overwritten",
    AS_SAID,
  ),
  ofNode(
    nodes.differs,
    [NODE, { field: "zone", message: "<difference>" }],
    "zone, region, instance type, addresses or labels differ from what the cloud says, and are left alone",
    "see which of the two is right",
  ),
  ofLifecycle(nodeLifecycle.deletingNode, [NODE], "before the deletion"),
  ofLifecycle(
    nodeLifecycle.deletingNodeFailed,
    [NODE, "<error>"],
    "the API server refused; not when the Node had changed",
    "see why the API server refuses; it is tried on",
  ),
  ofLifecycle(
    nodeLifecycle.nodeDeletionDelayed,
    [NODE, { kind: "hold", reason: "confirming", message: "<why>", endsInMs: 0 }],
    "its machine has been said to be absent for 5 min, and it stays; again after 30 min, or when the reason is another",
    AS_SAID,
  ),
  ofLifecycle(
    nodeLifecycle.nodeDeletionDelayed,
    [NODE, { kind: "hold", reason: "tooManyNodeDeletions", message: "<why>", endsInMs: undefined }],
    "more Nodes would go at once than may; again after 30 min",
    AS_SAID,
  ),
  ofService(services.ensuringLoadBalancer, [SERVICE], "before the provider is asked to make or change it"),
  ofService(
    services.adoptingLoadBalancer,
    [SERVICE, "<load balancer>"],
    "before the provider is asked to give it a load balancer that exists",
  ),
  ofService(services.ensuredLoadBalancer, [SERVICE], "it is as the Service wishes"),
  ofService(services.updatedLoadBalancer, [SERVICE], "it has other nodes"),
  ofService(
    services.unavailableLoadBalancer,
    [SERVICE],
    "there is no node that it could have",
    "see which Nodes are initialized, and which are kept out by label",
  ),
  ofService(
    services.syncLoadBalancerFailed,
    [SERVICE, "<error>"],
    "it could not be made, changed or deleted; also when the provider has been busy with it for half a minute",
    BY_REASON,
  ),
  ofService(
    services.updateLoadBalancerFailed,
    [SERVICE, ["<node>"], "<error>"],
    "its nodes could not be changed",
    BY_REASON,
  ),
  ofService(services.deletingLoadBalancer, [SERVICE], "before the provider is asked to delete it"),
  ofService(services.deletedLoadBalancer, [SERVICE], "it is gone from the cloud"),
  ofService(
    services.deleteLoadBalancerFailed,
    [SERVICE, "<error>"],
    "it could not be deleted, and the Service is gone already",
    BY_REASON,
  ),
  ofService(
    services.featureIgnored,
    [SERVICE, "<field>", "<what is ignored>"],
    "the Service wishes what its provider does not offer, and its load balancer does without",
    "do without, or have a provider serve it that offers this",
  ),
  ofService(
    services.loadBalancerDrifted,
    [SERVICE, "<what>"],
    "somebody else changed it at the cloud",
    "find at the cloud who changes it, if it comes back",
  ),
  ofService(services.driftNotRepaired, [SERVICE, "<what>"], "somebody else changes it each time", AS_SAID),
  ofService(
    services.loadBalancerDeletionProtected,
    [SERVICE],
    "it would be deleted, and its deletion protection is on",
    AS_SAID,
  ),
  ofService(
    services.loadBalancerRetained,
    [SERVICE, "<id>"],
    "the Service went while deletion protection was on",
    AS_SAID,
  ),
  ofService(
    services.noLoadBalancerProvider,
    [SERVICE, "<why>"],
    "its provider, of another version or configuration by now, serves no load balancers any more; once",
    AS_SAID,
  ),
  ofService(
    services.deletedPreviousLoadBalancer,
    [SERVICE, "<provider>", "<id>"],
    "another provider serves the Service now",
  ),
  ofService(
    services.deletePreviousLoadBalancerFailed,
    [SERVICE, "<provider>", "<error>"],
    "another provider serves the Service now; it is tried on",
    BY_REASON,
  ),
  ofService(services.diagnosed, [SERVICE, diagnostic("info")], "the provider's answer has something for the user"),
  ofService(services.diagnosed, [SERVICE, diagnostic("warning")], "the same, of severity warning or error", AS_SAID),
  ofRoute(
    routes.failedToCreateRoute,
    [NODE, "<hint>", "<cidr>", "<error>"],
    "a route could not be made; not while the cloud throttles, and a restart of the provider only the second time",
    AS_SAID,
  ),
  ofRoute(routes.routeTableNearlyFull, ["<provider>", QUOTA, 80], "the route table fills up; once", AS_SAID),
  ofRoute(routes.routeTableFull, ["<provider>", QUOTA], "the route table is full; once", AS_SAID),
  ofIpam(
    nodeIpam.cidrNotAvailable,
    [NODE],
    "no pod range is free; at once, and every 5 min",
    "add a range to `--cluster-cidr`, or remove Nodes",
  ),
  ofIpam(
    nodeIpam.cloudCidrNotAvailable,
    [NODE, "<why>"],
    "`--cidr-allocator-type=CloudAllocator`, and the cloud has no ranges for it",
    "see at the cloud why the machine has no range",
  ),
  ofIpam(
    nodeIpam.cidrAssignmentFailed,
    [NODE],
    "the API server did not take the ranges three times in a row",
    "see why the API server refuses; it is tried on",
  ),
  ofVolume(
    persistentVolumes.topologyMismatch,
    [VOLUME, "<difference>"],
    "the PersistentVolume says otherwise than the cloud",
    "see which of the two is right",
  ),
  ofVolume(
    persistentVolumes.notLabeled,
    [VOLUME, "<why>"],
    "it gets no labels, and will not unless something changes",
    AS_SAID,
  ),
  ofServing(
    kubeletServing.requestNotApproved,
    [REQUEST, { kind: "objection", reason: "wrongNames", message: "<why>" }],
    "the request is out of order, or the cloud has not confirmed it for a while",
    AS_SAID,
  ),
  ofServing(
    kubeletServing.nodeWithoutCertificate,
    [NODE, { kind: "objection", reason: "instanceNotFound", message: "<why>" }],
    "the same, on the Node",
    AS_SAID,
  ),
  ofProcess(
    changes.loadBalancerCalled,
    [CHANGED, { namespace: "<namespace>", name: "<service>", uid: "" }],
    "`--audit-events`: a call that changes a load balancer was answered",
  ),
  ofProcess(
    changes.routeCalled,
    [CHANGED, { node: "<node>", destinationCidr: "<cidr>", code: "ABORTED", reason: "<reason>" }],
    "`--audit-events`: one that changes a route failed",
    "what the other events of the object say",
  ),
  ofLease(LEADER_ELECTION, "Normal", "<identity> became leader", "this process leads"),
  ofLease(LEADER_ELECTION, "Normal", "<identity> stopped leading", "this process leads no longer"),
  ofLease(
    PROVIDER_SCOPE_CHANGED,
    "Warning",
    "Provider <provider>: <what changed, and what to do>",
    "the credentials of a provider reach another account, project or region: nothing is changed until somebody accepts it",
    AS_SAID,
  ),
  ofLease(
    LEADER_PROVIDER_UNAVAILABLE,
    "Warning",
    "<identity> cannot use <providers> since <time>; requests a handover to a replica that can",
    "the leader has been without a provider for `--leader-elect-provider-timeout`",
    "see why the provider beside the leader does not answer",
  ),
  ofLease(
    LEADERSHIP_HANDOVER,
    "Warning",
    "<identity> <why>",
    "the leader ends so that a replica that can use the provider leads",
  ),
];
