import type { EXIT } from "../../../src/app/shutdown.ts";
import type { ApiErrorCode } from "../../../src/kube/errors.ts";
import { type ClosedSet, closed } from "../../closed-set.ts";

/** Exit codes of the process, by their names in app/shutdown.ts. */
export const EXITS: ClosedSet = closed<keyof typeof EXIT>({
  ok: "The process was asked to shut down and did so cleanly, or printed what was requested.",
  tryAgain:
    "Leadership was lost, or something outside the process must be fixed first: a kubeconfig, a certificate, an address in use. The last line names it. A restart becomes a standby, or succeeds once the cause is fixed.",
  usage: "The settings are invalid: one line per problem, and nothing was started. A restart does not help.",
  internalError:
    "An essential part of the process failed with an internal error, or graceful shutdown timed out. A restart starts all parts again.",
});

/** `code` of errors of the controller. errors-page.test.ts compares them with the sources. */
export const OWN_CODES: Readonly<Record<string, string>> = {
  USAGE: "Invalid settings that only an operator can fix. The process prints one line per problem and exits.",
  KUBE_ACCESS:
    "The kubeconfig or the service account is unusable. At startup the process exits; later it reads them again.",
  LEADERSHIP_LOST: "The Lease could not be renewed in time, so another process may be the leader. This process exits.",
  PEM_FILE:
    "A certificate, key or CA certificate file is unusable. At startup a server without one ends the process; later the previous files stay in use until the new ones are fixed.",
  TRACE_EXPORT: "The `OTEL_EXPORTER_OTLP_*` variables are invalid for the export of traces. The process exits.",
  DEADLINE_EXCEEDED: "No response in time. Retried.",
  DECODE: "A response has an unexpected format: the peer has another version, or is the wrong server.",
  TERMINAL: "A terminal error: not retried until something changes.",
  RETRY_AFTER: "Retried after a set delay. The cause of the error has the reason.",
  NODE_NOT_INITIALIZED: "A Node keeps its taint; the message has the cause ([nodes](../explanation/nodes.md)).",
  ROUTE_SYNC: "Routes to a Node could not be created or deleted.",
  POD_CIDR_UNAVAILABLE: "The cloud has no pod CIDRs for a Node ([node IPAM](../explanation/node-ipam.md)).",
  LOAD_BALANCER_SYNC:
    "A load balancer does not match the spec of its Service ([load balancers](../explanation/load-balancers.md)).",
  SUPERSEDED: "The Service changed while a change was queued; the controller plans again. Not a failure.",
  VOLUME_LOOKUP_FAILED:
    "A volume could not be looked up; retried ([labels](../explanation/persistent-volume-labels.md)).",
  SELECTOR: "A label selector is invalid: part of a USAGE problem.",
  PLANNED_ONLY:
    "A write was planned and not made, because its controller or provider is in observe mode ([observe mode](../explanation/observe-mode.md)). Not a failure.",
  UNTRACKED_WRITE: "Observe mode rejected a write that belongs to no reconcile: an internal error.",
  DER: "A CertificateSigningRequest cannot be parsed and is not approved ([bootstrap](../explanation/bootstrap.md)).",
};

/** `code` of failed requests to the API server. */
export const API_CODES: ClosedSet = closed<ApiErrorCode>({
  conflict: "409: the object has changed since it was read. It is read and reconciled again.",
  alreadyExists: "409: an object of that name exists.",
  notFound: "404: the object does not exist, usually because it was deleted.",
  gone: "410: the resource version of a watch is too old. The informer lists again.",
  invalid: "Any other 4xx: the server rejects the object. Not retried unchanged.",
  forbidden: "403: a permission is missing; the message names verb and resource. Retried with back-off.",
  namespaceTerminating: "403: the namespace is being deleted, so nothing can be created in it. Not retried.",
  unauthorized: "401: the token or certificate is invalid. It is read again before the next attempt.",
  tooManyRequests: "429: API priority and fairness rejects the request. Retried when the server says so.",
  unsupportedMedia: "406, 415: the server does not support the encoding; the next attempt uses JSON.",
  transient: "5xx, no response, or an invalid one. Retried with back-off.",
  aborted: "Canceled by the controller, which shuts down or is no longer the leader.",
});

/** Reasons of domain `cloudwire.dev`: errors of the controller in the form of provider errors. */
export const OWN_REASONS: Readonly<Record<string, string>> = {
  LOAD_BALANCER_CLASS_CONFLICT:
    "Several providers serve the load-balancer class of the Service. Class O; no provider gets the Service until only one serves the class.",
  OWNER_UNKNOWN: "Another provider that may own the Node cannot respond now. Class U; no provider gets the Node yet.",
  AMBIGUOUS_NAME: "The same as `OWNER_UNKNOWN`, after the Node has waited for a while.",
};
