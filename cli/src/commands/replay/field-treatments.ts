/**
 * What is done to a field where messages of two runs are compared, or a request is matched.
 * - ignore: its value is not looked at.
 * - presence: whether it is there is compared, its value is not.
 * - name: a value that one side made; the first time that it is seen, the recorded one and the live one are taken for two names of the same
 *   thing, and have to be from then on. `space` is the kind.
 */
export type Treatment =
  | { readonly kind: "ignore" | "presence"; readonly why: string }
  | { readonly kind: "name"; readonly space: string; readonly why: string };

export type Treatments = Readonly<Record<string, Treatment>>;

const ignore = (why: string): Treatment => ({ kind: "ignore", why });
const name = (space: string, why: string): Treatment => ({ kind: "name", space, why });

const TIME = "when something was read or happened is another time in each run";
const COST = "what an answer cost depends on caches and on what else was asked";
const TEXT = "human-readable text contains ids and times, and clients must not depend on it";
const PROCESS = "says which process or build answers, and a replay is there to try another";
const CLOUD_MADE = "made by the cloud or the provider";

/** Of whole messages, by full name. */
export const ANSWER_MESSAGES: Treatments = {
  "google.protobuf.Timestamp": { kind: "presence", why: TIME },
  "cloudprovider.v1.CallStats": ignore(COST),
};

/** Of fields of answers, by the message without `cloudprovider.v1.` and the JSON name of the field. */
export const ANSWER_FIELDS: Treatments = {
  "GetProviderInfoResponse.version": ignore(PROCESS),
  "GetProviderInfoResponse.bootId": ignore(PROCESS),
  "GetProviderInfoResponse.build": ignore(PROCESS),
  "GetProviderInfoResponse.scopeId": name("scope", CLOUD_MADE),
  "GetProviderStatusResponse.bootId": ignore(PROCESS),
  "GetProviderStatusResponse.configRevision": ignore(PROCESS),
  "GetProviderStatusResponse.rateLimits": ignore(COST),
  "GetProviderStatusResponse.lastCloudSuccessTime": ignore(
    "the first status may come before the first call of the cloud, or after it",
  ),
  "GetProviderStatusResponse.scopeId": name("scope", CLOUD_MADE),
  "BatchGetInstancesResponse.scopeId": name("scope", CLOUD_MADE),
  "ListInstancesResponse.scopeId": name("scope", CLOUD_MADE),
  "ListLoadBalancersResponse.scopeId": name("scope", CLOUD_MADE),
  "ListRoutesResponse.scopeId": name("scope", CLOUD_MADE),
  "BatchGetVolumesResponse.scopeId": name("scope", CLOUD_MADE),
  "ListInstancesResponse.nextPageToken": name("token", CLOUD_MADE),
  "ListInstancesResponse.resumeToken": name("token", CLOUD_MADE),
  "ListLoadBalancersResponse.nextPageToken": name("token", CLOUD_MADE),
  "ListLoadBalancersResponse.resumeToken": name("token", CLOUD_MADE),
  "ListRoutesResponse.nextPageToken": name("token", CLOUD_MADE),
  "Instance.providerId": name("machine", CLOUD_MADE),
  "Instance.revision": name("revision", CLOUD_MADE),
  "Instance.stateReason": ignore(TEXT),
  "NodeAddress.address": name("address", CLOUD_MADE),
  "LoadBalancer.id": name("load balancer", CLOUD_MADE),
  "LoadBalancer.observedFingerprint": name("revision", CLOUD_MADE),
  "LoadBalancer.previousObservedFingerprint": name("revision", CLOUD_MADE),
  "LoadBalancer.lockKey": name("lock", CLOUD_MADE),
  "LoadBalancerIngress.ip": name("address", CLOUD_MADE),
  "LoadBalancerIngress.hostname": name("address", CLOUD_MADE),
  "Operation.id": name("operation", CLOUD_MADE),
  "Operation.stage": ignore(TEXT),
  "Operation.message": ignore(TEXT),
  "Operation.progressPercent": ignore("how far something is depends on when it is asked"),
  "Operation.pollAfter": ignore("how soon to ask again depends on how far it is"),
  "Route.id": name("route", CLOUD_MADE),
  "Route.targetProviderId": name("machine", CLOUD_MADE),
  "Volume.id": name("volume", CLOUD_MADE),
  "PlannedChange.resourceId": ignore("ids of parts that the contract does not know, in the vendor's words"),
  "PlannedChange.summary": ignore(TEXT),
  "Diagnostic.summary": ignore(TEXT),
  "Diagnostic.detail": ignore(TEXT),
  "Condition.message": ignore(TEXT),
  "NotOwned.message": ignore(TEXT),
  "ItemError.message": ignore(TEXT),
  "ItemError.metadata": ignore(TEXT),
  "ItemError.retryAfter": { kind: "presence", why: "how long to wait depends on the moment" },
};

/** Of fields of requests that hold a name which an answer gave: it is put in the place of the recorded one. */
export const REQUEST_NAMES: Treatments = {
  "CallContext.scopeId": name("scope", CLOUD_MADE),
  "NodeRef.providerId": name("machine", CLOUD_MADE),
  "TargetNode.providerId": name("machine", CLOUD_MADE),
  "NodeAddress.address": name("address", CLOUD_MADE),
  "Route.id": name("route", CLOUD_MADE),
  "Route.targetProviderId": name("machine", CLOUD_MADE),
  "UpdateLoadBalancerNodesRequest.loadBalancerId": name("load balancer", CLOUD_MADE),
  "DeleteLoadBalancerRequest.loadBalancerId": name("load balancer", CLOUD_MADE),
  "AdoptLoadBalancer.loadBalancerId": name("load balancer", CLOUD_MADE),
  "EnsureLoadBalancerRequest.operationId": name("operation", CLOUD_MADE),
  "GetLoadBalancerRequest.operationId": name("operation", CLOUD_MADE),
  "DeleteLoadBalancerRequest.operationId": name("operation", CLOUD_MADE),
  "ListInstancesRequest.pageToken": name("token", CLOUD_MADE),
  "ListLoadBalancersRequest.pageToken": name("token", CLOUD_MADE),
  "ListRoutesRequest.pageToken": name("token", CLOUD_MADE),
  "WatchInstancesRequest.resumeToken": name("token", CLOUD_MADE),
  "WatchLoadBalancersRequest.resumeToken": name("token", CLOUD_MADE),
  "ApplyNodeSetRequest.removedProviderIds": name("machine", CLOUD_MADE),
};

const CLUSTER_MADE = "generated by each cluster";

/** Of whole messages in requests that a controller sends to a recording that is served. */
export const MATCH_MESSAGES: Treatments = {
  "google.protobuf.Timestamp": ignore(TIME),
  "cloudprovider.v1.ClientInfo": ignore(PROCESS),
};

/** Of their fields. */
export const MATCH_FIELDS: Treatments = {
  "CallContext.scopeId": ignore("the handshake gave it"),
  "ClusterRef.id": name("cluster", CLUSTER_MADE),
  "ClusterRef.name": ignore("for people"),
  "ChangeContext.requestId": ignore("another for each change"),
  "ChangeContext.sequence": ignore("goes on over all runs of a cluster"),
  "ChangeContext.trigger": ignore(TEXT),
  "ServiceRef.uid": name("service", CLUSTER_MADE),
  "NodeRef.uid": ignore(CLUSTER_MADE),
  "NodeRef.systemUuid": ignore(CLUSTER_MADE),
  "NodeRef.providedNodeIps": ignore("a hint for the look-up"),
  "NodeRef.addresses": ignore("a hint for the look-up, which follows from earlier answers"),
  "NodeRef.labels": ignore("a hint for the look-up, which follows from earlier answers"),
  "NodeRef.annotations": ignore("a hint for the look-up, which follows from earlier answers"),
  "VolumeRef.uid": ignore(CLUSTER_MADE),
  "BatchGetInstancesRequest.maxDataAge": ignore("a recording has one age"),
  "BatchGetVolumesRequest.maxDataAge": ignore("a recording has one age"),
  "ServicePort.nodePort": name("node port", "the API server draws it by lot"),
  "HealthCheck.port": name("node port", "the API server draws it by lot"),
  "EnsureLoadBalancerRequest.specFingerprint": name(
    "spec",
    "follows from the fields of the spec, including node ports",
  ),
  "EnsureLoadBalancerRequest.operationId": ignore("a hint"),
  "GetLoadBalancerRequest.operationId": ignore("a hint"),
  "DeleteLoadBalancerRequest.operationId": ignore("a hint"),
  "UpdateLoadBalancerNodesRequest.loadBalancerId": ignore("a hint: the Service is the key"),
  "DeleteLoadBalancerRequest.loadBalancerId": ignore("a hint: the Service is the key"),
  "LoadBalancerSpec.nameHint": ignore("follows from the Service's UID"),
  "NodeSelection.fingerprint": name("nodes", "follows from the nodes, which come in another order in each run"),
  "NodeSelection.count": ignore("likewise"),
  "NodeSelection.inline": ignore("likewise"),
  "NodeSelection.nodeSetId": ignore("likewise"),
  "NodeSelection.unchanged": ignore("likewise"),
  "ApplyNodeSetRequest.nodeSetId": ignore("likewise"),
  "ApplyNodeSetRequest.baseFingerprint": ignore("likewise"),
  "ApplyNodeSetRequest.targetFingerprint": name("nodes", "likewise"),
  "ApplyNodeSetRequest.upserts": ignore("likewise"),
  "ApplyNodeSetRequest.removedProviderIds": ignore("likewise"),
  "ApplyNodeSetRequest.targetCount": ignore("likewise"),
};

/** Fields of answers in which the caller of a served recording looks for a name of its own. */
export const SERVED_NAMES: Treatments = {
  "ServiceRef.uid": name("service", CLUSTER_MADE),
  "LoadBalancer.specFingerprint": name("spec", CLUSTER_MADE),
  "LoadBalancer.nodesFingerprint": name("nodes", CLUSTER_MADE),
  "ApplyNodeSetResponse.fingerprint": name("nodes", CLUSTER_MADE),
};
