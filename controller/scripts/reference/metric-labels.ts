import type { ObjectionReason } from "../../src/controllers/kubelet-serving-csr-approver/plan/claim.ts";
import type { WaitReason } from "../../src/controllers/node/plan.ts";
import type { Field } from "../../src/controllers/node/plan/labels.ts";
import type { Plan } from "../../src/controllers/node-lifecycle/plan.ts";
import type { DelayReason } from "../../src/controllers/node-lifecycle/guard/guard.ts";
import type { LabelingOutcome } from "../../src/controllers/persistent-volume-label/metrics.ts";
import type { Drift } from "../../src/controllers/service/record/record.ts";
import type { ApiErrorCode } from "../../src/kube/errors.ts";
import type { DropReason } from "../../src/kube/events/metrics.ts";
import type { Effect } from "../../src/observe/plans.ts";
import type { HealthReasonName } from "../../src/provider/connection/state.ts";
import type { OwnershipProblem } from "../../src/provider/ownership/conflicts.ts";
import type { NodeOwner } from "../../src/provider/model/provider.ts";
import type { Outcome } from "../../src/runtime/reconciler.ts";
import type { AuditFate } from "../../src/telemetry/audit-log.ts";
import type { RecordingFate } from "../../src/telemetry/recording-log.ts";
import type { SpanFate } from "../../src/telemetry/trace-export.ts";
import type { Priority } from "../../src/util/semaphore.ts";
import { type ClosedSet, closed } from "../closed-set.ts";

/** What the values of a label mean: in a sentence, or one by one where they are a closed set. */
export type LabelMeaning = string | ClosedSet;

const labelling = closed<LabelingOutcome>({
  labelled: "it got what was missing",
  unchanged: "it has all that the cloud says",
  foreign: "no volume of a provider",
  absent: "the cloud knows no such volume",
  mismatch: "it says otherwise than the cloud",
  unknown: "the cloud could not be asked, or did not know",
  invalid: "it cannot be labelled as it is",
});

/** Labels that mean the same in every family, unless {@link OF_FAMILY} says otherwise. */
const EVERYWHERE: Readonly<Record<string, LabelMeaning>> = {
  controller: "canonical name of the controller, as for `--controllers`",
  provider: "name that `--provider` gives the provider",
  method: "RPC of the contract, such as `GetInstances`",
  class: "what the cloud throttles together: `instances`, `load_balancers`, `routes`, `volumes`",
  priority: closed<Priority>({ high: "creates, deletes, initialises", low: "refreshes" }),
  clusterCIDR: "one range of `--cluster-cidr`",
  host: "host and port of the API server",
  verb: "HTTP method",
  webhook: "name of the webhook, as for `--webhooks`",
};

/** Labels of single families. */
export const OF_FAMILY: Readonly<Record<string, Readonly<Record<string, LabelMeaning>>>> = {
  kubernetes_build_info: {
    major: "of the version of Cloudwire, not of Kubernetes",
    minor: "likewise",
    git_version: "the whole version, with a `v` before it",
    platform: "operating system and processor, as Node names them",
  },
  cloudwire_config_reloads_total: { result: closed({ success: "", failure: "" }) },
  leader_election_master_status: { name: "name of the Lease" },
  leader_election_slowpath_total: { name: "name of the Lease" },
  running_managed_controllers: {
    name: "upstream's old short name: `cloud-node`, `cloud-node-lifecycle`, `service`, `route`, `nodeipam`; of the others the canonical one, `persistent-volume-label` without `-controller`",
    manager: closed({ "cloud-controller-manager": "" }),
  },
  cloudwire_reconciles_total: {
    outcome: closed<Outcome["kind"]>({
      done: "nothing to do until something changes",
      requeueAfter: "it comes back after a set time",
      failed: "tried again with back-off",
      heldOff: "tried again after the wait that the error asked for",
      terminal: "not tried again until something changes",
      panicked: "a fault of this program; worth an alert",
      planned: "it came to a write that is only planned, for it is observed (`--mode`)",
      aborted: "cut short by shutdown or loss of the lead",
    }),
  },
  cloudwire_pending_writes: {
    effect: closed<Effect>({
      addition: "nothing that is there changes",
      change: "something else comes in its place, or the provider changes its cloud",
      removal: "something that is there goes",
    }),
  },
  cloudwire_provider_problem: {
    reason: closed<HealthReasonName>({
      Connecting: "no answer to the handshake yet",
      SocketMissing: "",
      SocketConnectionRefused: "nobody listens on it",
      SocketPermissionDenied: "",
      NotASocket: "",
      HostNotFound: "",
      HostUnreachable: "",
      ConnectionRefused: "",
      NotTLS: "",
      CertificateExpired: "the provider's",
      CertificateNameMismatch: "the provider's",
      CertificateUntrusted: "the provider's",
      CertificateUsageMismatch: "the provider's is not for server use",
      ClientCertificateRejected: "",
      TLSFilesUnusable: "certificate, key or authority of this side",
      NotGRPC: "something else answers",
      NotResponding: "",
      UnsupportedContract: "",
      InvalidHandshake: "its answer is not what the contract allows",
      HandshakeFailed: "",
      ConnectionLost: "it was there; probably it is being restarted",
      ScopeChanged: "it works in another scope: changes are held back",
      CloudNotReady: "it says that its cloud cannot be used",
      StatusUnknown: "it does not say how it is",
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
    kind: closed({ read: "", change: "", retry: "sent again; whether it was a change is not reported" }),
  },
  cloudwire_nodes: {
    state: closed<NodeOwner["kind"]>({
      owned: "by the provider",
      unowned: "by no provider, which is then empty; left alone",
      undecided: "a provider has not answered yet, or several could be meant; left alone",
    }),
  },
  cloudwire_ownership_conflicts: {
    kind: closed<OwnershipProblem["kind"]>({
      providerIdPrefix: "several providers declare one prefix",
      loadBalancerClass: "several providers declare one class",
      defaultLoadBalancerProvider: "`--default-load-balancer-provider` serves no load balancers",
    }),
    value: "what is contested",
  },
  cloudwire_nodes_uninitialized: {
    reason: closed<WaitReason>({
      absent: "the cloud knows no such machine",
      addresses: "the provided node IP is not the machine's",
      labels: "a label is impossible",
      providerID: "the provider ID is malformed, ambiguous or another's",
      provider: "the provider or its cloud does not answer",
      unowned: "no provider owns the Node",
      write: "the API server did not take the change",
    }),
  },
  cloudwire_node_differences: {
    field: closed<Field>({ providerID: "", addresses: "", instanceType: "", zone: "", region: "", labels: "" }),
  },
  cloudwire_node_deletion_decisions_total: {
    decision: closed<Exclude<Plan["kind"], "ready" | "hold"> | DelayReason>({
      young: "younger than Nodes are deleted at",
      exists: "its machine exists",
      leave: "its machine is another provider's or nobody's",
      unknown: "the cloud could not be asked, or did not know",
      going: "somebody has asked for its deletion already",
      delete: "",
      unconfirmed: "held: no absence counts yet, or the provider called another machine absent that is there",
      providerDoubted: "held: the provider's scope is in doubt, or it is not ready",
      providerFailed: "held: the provider failed, or contradicted itself, lately",
      counting: "held: the absence was not seen often or long enough",
      brake: "held: too many Nodes would go at once",
    }),
  },
  cloudwire_services: {
    reason:
      "[reason of the condition](../explanation/load-balancers.md#the-condition); `Unknown` while there is none; on a standby too",
  },
  cloudwire_load_balancer_drifts_total: {
    kind: closed<Drift["kind"]>({ vanished: "gone from the cloud", changed: "" }),
    action: closed({
      left: "repaired at a later sweep",
      repaired: "",
      rest: "not repaired for a day: it comes back each time",
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
      notFromNode: "asked for by another user than its Node",
      unexpectedExtensions: "",
      wrongNames: "",
      nodeMissing: "there is no such Node",
      machineUnknown: "the cloud could not be asked, or did not know",
      providerDoubted: "the provider's scope is in doubt, or it is not ready",
      machineNotOurs: "",
      machineAbsent: "",
      machineNotRunning: "",
      nodeNameUnconfirmed: "the cloud does not confirm that the Node's name is its machine's",
      addressUnknown: "an address that is not the machine's",
      dnsNameUnknown: "a DNS name that is not the machine's",
    }),
  },
  cloudwire_kubelet_serving_csrs_not_approved: {
    reason: "as `decision` of `cloudwire_kubelet_serving_csr_decisions_total`, without `approved`",
  },
  cloudwire_persistent_volume_admissions_total: { outcome: labelling },
  cloudwire_persistent_volume_labelings_total: { outcome: labelling },
  cloud_provider_webhook_request_total: { code: "HTTP status of the answer" },
  cloud_provider_webhook_request_duration_seconds: { code: "HTTP status of the answer" },
  rest_client_requests_total: { code: "HTTP status; `<error>` when there was none", method: "HTTP method" },
  rest_client_request_retries_total: { code: "HTTP status that led to the retry" },
  cloudwire_informer_lists_total: {
    kind: "kind of the objects",
    how: closed<"stream" | "pages">({ stream: "in a watch", pages: "" }),
  },
  cloudwire_informer_watches_total: { kind: "kind of the objects" },
  cloudwire_informer_failures_total: {
    kind: "kind of the objects",
    code: closed<ApiErrorCode | "other">({
      conflict: "409",
      alreadyExists: "409 with that reason",
      notFound: "404",
      gone: "410: the list starts anew",
      invalid: "any other 4xx",
      forbidden: "403",
      unauthorized: "401",
      tooManyRequests: "429",
      unsupportedMedia: "406, 415",
      transient: "other statuses, no answer, an unreadable answer",
      aborted: "shutdown",
      other: "a fault of this program, or of the credentials",
    }),
  },
  cloudwire_informer_handler_failures_total: { kind: "kind of the objects" },
  cloudwire_informer_objects: { kind: "kind of the objects" },
  cloudwire_events_dropped_total: {
    why: closed<DropReason>({
      full: "16,384 were waiting already",
      spam: "too many of one source about one object ([events](events.md#limits))",
      refused: "the API server did not take it, or not in time",
      shutdown: "the process ended before",
      observed: "what it is about is only observed (`--mode`)",
    }),
  },
  cloudwire_audit_lines_total: {
    result: closed<AuditFate>({ written: "", lost: "too many waited for a file that could not be written" }),
  },
  cloudwire_recording_lines_total: {
    result: closed<RecordingFate>({
      written: "",
      lost: "too many waited for a file that could not be written",
      full: "the file has the size of `--record-provider-maxsize`",
    }),
  },
  cloudwire_trace_spans_total: {
    result: closed<SpanFate>({
      exported: "",
      failed: "the collector did not take them",
      dropped: "the queue was full",
    }),
  },
  authentication_attempts: { result: closed({ success: "", failure: "" }) },
  authentication_duration_seconds: { result: closed({ success: "", failure: "" }) },
  authorization_attempts_total: { result: closed({ allowed: "", denied: "", error: "nobody could be asked" }) },
  authorization_duration_seconds: { result: closed({ allowed: "", denied: "", error: "nobody could be asked" }) },
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

/** What a label of a family means; undefined: nobody has said. */
export function meaningOf(family: string, label: string): LabelMeaning | undefined {
  if (family.startsWith("workqueue_") && label === "name") return QUEUE;
  return OF_FAMILY[family]?.[label] ?? EVERYWHERE[label];
}
