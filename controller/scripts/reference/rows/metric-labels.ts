import type { ObjectionReason } from "../../../src/controllers/kubelet-serving-csr-approver/plan/claim.ts";
import type { WaitReason } from "../../../src/controllers/node/plan.ts";
import type { Field } from "../../../src/controllers/node/plan/labels.ts";
import type { Plan } from "../../../src/controllers/node-lifecycle/plan.ts";
import type { CallOperation, CallResult } from "../../../src/controllers/node-lifecycle/metrics.ts";
import type { DelayReason } from "../../../src/controllers/node-lifecycle/guard/guard.ts";
import type { LabelingResult } from "../../../src/controllers/persistent-volume-label/metrics.ts";
import type { SyncOutcome, SyncTrigger } from "../../../src/controllers/route/metrics.ts";
import type { Drift } from "../../../src/controllers/service/record/record.ts";
import type { DeniedReason } from "../../../src/kube/connection/metrics.ts";
import type { ApiErrorCode } from "../../../src/kube/errors.ts";
import type { DropReason } from "../../../src/kube/events/metrics.ts";
import type { WriteAction } from "../../../src/observe/plans.ts";
import type { HealthReasonName } from "../../../src/provider/connection/health-reason.ts";
import type { Breach } from "../../../src/provider/model/breach.ts";
import type { OwnershipConflict } from "../../../src/provider/ownership/conflicts.ts";
import type { NodeOwner } from "../../../src/provider/model/provider.ts";
import type { Outcome } from "../../../src/runtime/reconciler.ts";
import type { LineResult } from "../../../src/telemetry/line-log.ts";
import type { RecordingResult } from "../../../src/telemetry/recording-log.ts";
import type { SpanResult } from "../../../src/telemetry/trace-export.ts";
import type { Priority } from "../../../src/util/semaphore.ts";
import { type ClosedSet, closed } from "../../closed-set.ts";

/** Meaning of the values of a label: a sentence, or one entry per value of a closed set. */
export type LabelMeaning = string | ClosedSet;

const labeling = closed<LabelingResult>({
  labeled: "missing labels or node affinity were added",
  unchanged: "labels and node affinity are complete",
  not_owned: "not a volume of a provider",
  absent: "the volume does not exist in the cloud",
  mismatch: "labels or node affinity contradict the cloud",
  unknown: "the cloud could not be reached, or did not know",
  invalid: "the PersistentVolume cannot be labeled in its current form",
});

/** Labels that mean the same in every family, unless {@link OF_FAMILY} says otherwise. */
const EVERYWHERE: Readonly<Record<string, LabelMeaning>> = {
  controller: "canonical name of the controller, as for `--controllers`",
  provider: "name that `--provider` gives the provider",
  method: "RPC of the contract, such as `GetInstances`",
  quota_class: "calls that the cloud throttles together: `instances`, `load_balancers`, `routes`, `volumes`",
  priority: closed<Priority>({ high: "creates, deletes, initializes", low: "refreshes" }),
  clusterCIDR: "one CIDR of `--cluster-cidr`",
  host: "host and port of the API server",
  verb: "HTTP method",
  webhook: "name of the webhook, as for `--webhooks`",
};

/** Labels of single families. */
export const OF_FAMILY: Readonly<Record<string, Readonly<Record<string, LabelMeaning>>>> = {
  kubernetes_build_info: {
    major: "of the version of Cloudwire, not of Kubernetes",
    minor: "of the version of Cloudwire, not of Kubernetes",
    git_version: "the whole version, with a `v` before it",
    platform: "operating system and processor, as Node names them",
  },
  cloudwire_provider_contract_violations_total: {
    rule: closed<Breach["rule"]>({
      size: "the response is over 1 MiB",
      encoding: "the response is not a protobuf message",
      items: "the response has too many items",
      pages: "a list has too many pages or items, or repeats a page token",
      field: "a field violates its rule",
      time: "a time is in the future",
    }),
  },
  cloudwire_config_reloads_total: { result: closed({ success: "", failure: "" }) },
  leader_election_master_status: { name: "name of the Lease" },
  leader_election_slowpath_total: { name: "name of the Lease" },
  running_managed_controllers: {
    name: "upstream's old short name: `cloud-node`, `cloud-node-lifecycle`, `service`, `route`, `nodeipam`; of the others the canonical one, `persistent-volume-label` without `-controller`",
    manager: closed({ "cloud-controller-manager": "" }),
  },
  cloudwire_reconciles_total: {
    result: closed<Outcome["kind"]>({
      success: "nothing to do until something changes",
      requeue_after: "requeued after a set time",
      error: "retried with back-off",
      retry_after: "retried after the delay of the error's class",
      terminal_error: "not retried until something changes",
      panic: "an internal error, retried with back-off",
      planned: "stopped at a write that observe mode (`--mode`) does not make",
      aborted: "canceled by shutdown or loss of leadership",
    }),
  },
  cloudwire_pending_writes: {
    action: closed<WriteAction>({
      create: "an object, a field or a label is new; nothing that exists changes",
      update: "a value changes, or the provider changes its cloud",
      delete: "an object or a value is removed",
    }),
  },
  cloudwire_provider_problem: {
    reason: closed<HealthReasonName>({
      Connecting: "no response to the handshake yet",
      SocketMissing: "",
      SocketConnectionRefused: "no process listens on it",
      SocketPermissionDenied: "",
      NotASocket: "",
      HostNotFound: "",
      HostUnreachable: "",
      ConnectionRefused: "",
      NotTLS: "",
      CertificateExpired: "the provider's",
      CertificateNameMismatch: "the provider's",
      CertificateUntrusted: "the provider's",
      CertificateUsageMismatch: "the provider's, which is not for server authentication",
      ClientCertificateRejected: "",
      TLSFilesUnusable: "certificate, key or CA certificates of the controller",
      NotGRPC: "the peer does not speak gRPC",
      NotResponding: "",
      UnsupportedContract: "",
      InvalidHandshake: "the response violates the contract",
      HandshakeFailed: "",
      ConnectionLost: "the provider was connected before; it is probably restarting",
      ScopeChanged: "it works in another scope; changes are paused",
      CloudNotReady: "the provider reports that its cloud cannot be used",
      StatusUnknown: "the provider does not report its status",
    }),
  },
  cloudwire_provider_info: { provider_name: "what the provider calls itself", version: "of the provider" },
  cloudwire_cloud_rate_limit_requests: { limit: "name that the provider gives the limit" },
  cloudwire_cloud_rate_limit_remaining_requests: { limit: "name that the provider gives the limit" },
  cloudwire_provider_call_duration_seconds: {
    code: "canonical gRPC code, such as `OK` or `RESOURCE_EXHAUSTED`",
    reason:
      "reason of the contract ([errors](errors.md)); `VENDOR` for any of a vendor's own; empty on success and when the transport failed",
  },
  cloudwire_cloud_calls_total: {
    kind: closed({ read: "", change: "", retry: "sent again; reads and changes are not distinguished" }),
  },
  cloudwire_nodes: {
    state: closed<NodeOwner["kind"]>({
      owned: "by the provider",
      unowned: "by no provider; `provider` is empty, and the controller does not change the Node",
      undecided: "a provider has not responded yet, or several match; the controller does not change the Node",
    }),
  },
  cloudwire_ownership_conflicts: {
    kind: closed<OwnershipConflict["kind"]>({
      providerIdPrefix: "several providers declare one prefix",
      loadBalancerClass: "several providers declare one class",
      defaultLoadBalancerProvider: "`--default-load-balancer-provider` serves no load balancers",
    }),
    value: "prefix, class or provider in conflict",
  },
  cloudwire_nodes_uninitialized: {
    reason: closed<WaitReason>({
      absent: "the instance does not exist in the cloud",
      noAddress: "the cloud reports no IP address for the instance",
      addresses: "the provided node IP is not an address of the instance",
      labels: "the provider returned an invalid label",
      providerID: "the provider ID is malformed, ambiguous, or belongs to another instance",
      provider: "the provider or its cloud does not respond",
      unowned: "no provider owns the Node",
      write: "the API server rejected the change",
    }),
  },
  cloudwire_node_differences: {
    field: closed<Field>({ providerID: "", addresses: "", instanceType: "", zone: "", region: "", labels: "" }),
  },
  cloud_node_lifecycle_controller_cloud_provider_calls_total: {
    operation: closed<CallOperation>({
      instance_exists: "whether the instance exists",
      instance_shutdown: "whether an existing instance is stopped",
    }),
    result: closed<CallResult>({
      success: "",
      error: "the call failed, or the provider did not know",
      instance_not_found: "the instance does not exist",
      not_implemented: "the provider does not report it",
      canceled: "by shutdown or loss of leadership",
    }),
  },
  route_controller_route_sync_total: {
    outcome: closed<SyncOutcome>({
      changed: "a route was created or deleted",
      noop: "all routes were as desired",
      error: "the list or a change failed",
    }),
    trigger: closed<SyncTrigger>({
      node_change: "a Node was added, changed or deleted",
      periodic: "a pass over all routes of a provider, and each Node that it enqueues",
    }),
  },
  cloudwire_node_deletion_decisions_total: {
    decision: closed<Exclude<Plan["kind"], "ready" | "delayed"> | DelayReason>({
      tooNew: "younger than the minimum age for deletion",
      exists: "its instance exists",
      notOwned: "its instance belongs to another provider or to none",
      unknown: "the cloud could not be reached, or did not know",
      alreadyDeleting: "it has a deletion timestamp",
      delete: "",
      noProviderID: "the Node has no provider ID, and no instance has its name",
      deletionProtected: "an annotation or --node-deletion-protection protects the Node",
      unconfirmed: "delayed: absence reports do not count yet, or the provider reported an existing instance as absent",
      providerUntrusted: "delayed: the provider changed its scope, or is not ready",
      providerErrors: "delayed: the provider recently failed or contradicted itself",
      confirming: "delayed: the instance was not absent often or long enough",
      tooManyNodeDeletions: "delayed: the deletion circuit breaker is open",
    }),
  },
  cloudwire_services: {
    reason:
      "[reason of the condition](../explanation/load-balancers.md#the-condition); `Unknown` while there is none; on a standby too",
  },
  cloudwire_load_balancer_drifts_total: {
    kind: closed<Drift["kind"]>({ missing: "no longer in the cloud", changed: "" }),
    action: closed({
      deferred: "to be repaired at a later sweep",
      repaired: "",
      suspended: "not repaired for a day, because the drift keeps recurring",
    }),
  },
  cloudwire_kubelet_serving_csr_decisions_total: {
    decision: closed<ObjectionReason | "approved">({
      approved: "",
      unreadable: "",
      weakKey: "",
      badSignature: "",
      wrongUsages: "",
      wrongSubject: "",
      requesterNotNode: "requested by a user other than its Node",
      unexpectedExtensions: "",
      wrongNames: "",
      nodeNotFound: "the Node does not exist",
      instanceUnknown: "the cloud could not be reached, or did not know",
      providerUntrusted: "the provider changed its scope, or is not ready",
      instanceNotOwned: "",
      instanceNotFound: "",
      instanceNotRunning: "",
      nodeNameUnconfirmed: "the cloud does not confirm that the instance has the Node's name",
      addressReserved: "an address of a Service or an API server",
      clusterUnknown: "the addresses of Services and API servers could not be read",
      addressUnknown: "an address that the instance does not have",
      dnsNameUnknown: "a DNS name that the instance does not have",
    }),
  },
  cloudwire_kubelet_serving_csrs_not_approved: {
    reason: "as `decision` of `cloudwire_kubelet_serving_csr_decisions_total`, without `approved`",
  },
  cloudwire_persistent_volume_admissions_total: { result: labeling },
  cloudwire_persistent_volume_labelings_total: { result: labeling },
  cloud_provider_webhook_request_total: { code: "HTTP status of the response" },
  cloud_provider_webhook_request_duration_seconds: { code: "HTTP status of the response" },
  rest_client_requests_total: { code: "HTTP status; `<error>` without a response", method: "HTTP method" },
  cloudwire_apiserver_denied_calls_total: {
    reason: closed<DeniedReason>({
      unauthorized: "401 also with renewed credentials",
      forbidden: "403: a permission is missing",
    }),
    method: "HTTP method",
  },
  rest_client_request_retries_total: { code: "HTTP status that led to the retry" },
  cloudwire_informer_lists_total: {
    kind: "kind of the objects",
    method: closed<"stream" | "pages">({ stream: "in a watch", pages: "" }),
  },
  cloudwire_informer_watches_total: { kind: "kind of the objects" },
  cloudwire_informer_failures_total: {
    kind: "kind of the objects",
    code: closed<ApiErrorCode | "other">({
      conflict: "409",
      alreadyExists: "409 with that reason",
      notFound: "404",
      gone: "410; the informer lists again",
      invalid: "any other 4xx",
      forbidden: "403",
      namespaceTerminating: "403, since the namespace is being deleted",
      unauthorized: "401",
      tooManyRequests: "429",
      unsupportedMedia: "406, 415",
      transient: "other statuses, no response, or an invalid response",
      aborted: "shutdown",
      other: "an internal error, or invalid credentials",
    }),
  },
  cloudwire_informer_handler_failures_total: { kind: "kind of the objects" },
  cloudwire_informer_objects: { kind: "kind of the objects" },
  cloudwire_events_dropped_total: {
    reason: closed<DropReason>({
      full: "16,384 Events were queued",
      rate_limited: "too many from one source about one object ([events](events.md#limits))",
      rejected: "the API server did not accept it in time",
      namespace_terminating: "the namespace of the object is being deleted",
      shutdown: "the process ended first",
      observed: "observe mode (`--mode`) writes nothing",
    }),
  },
  cloudwire_audit_lines_total: {
    result: closed<LineResult>({
      written: "",
      dropped: "too many lines were queued for a file that could not be written",
    }),
  },
  cloudwire_recording_lines_total: {
    result: closed<RecordingResult>({
      written: "",
      dropped: "too many lines were queued for a file that could not be written",
      size_limit: "the file reached `--record-provider-maxsize`",
    }),
  },
  cloudwire_trace_spans_total: {
    result: closed<SpanResult>({
      exported: "",
      failed: "the collector did not accept them",
      dropped: "the queue was full",
    }),
  },
  authentication_attempts: { result: closed({ success: "", failure: "" }) },
  authentication_duration_seconds: { result: closed({ success: "", failure: "" }) },
  authorization_attempts_total: {
    result: closed({ allowed: "", denied: "", error: "the API server could not be reached" }),
  },
  authorization_duration_seconds: {
    result: closed({ allowed: "", denied: "", error: "the API server could not be reached" }),
  },
  kubernetes_healthcheck: {
    name: "name of the check",
    type: closed({ healthz: "", livez: "", readyz: "" }),
  },
  kubernetes_healthchecks_total: {
    name: "name of the check",
    type: closed({ healthz: "", livez: "", readyz: "" }),
    status: closed({ success: "", error: "" }),
  },
};

const QUEUE =
  "name of the queue: `Nodes`, `service`, `Routes` and `cidrallocator_node` as upstream; ours `node-lifecycle`, `kubelet-serving-csr-approver`, `persistentvolumes`";

/** undefined: not documented. */
export function meaningOf(family: string, label: string): LabelMeaning | undefined {
  if (family.startsWith("workqueue_") && label === "name") return QUEUE;
  return OF_FAMILY[family]?.[label] ?? EVERYWHERE[label];
}
