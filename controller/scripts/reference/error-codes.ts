import type { EXIT } from "../../src/app/shutdown.ts";
import type { ApiErrorCode } from "../../src/kube/errors.ts";
import { type ClosedSet, closed } from "../closed-set.ts";

/** Ends of the process, by their names in exit-codes.ts. */
export const EXITS: ClosedSet = closed<keyof typeof EXIT>({
  ok: "It was asked to end, and ended in order; or it has printed what it was asked for.",
  tryAgain:
    "Leadership is lost, or something outside has to be put right first: a kubeconfig, a certificate, an address that is taken. The last line says what. Started again, it stands by, or finds things put right.",
  usage: "The settings are wrong: one line for each problem, nothing was started. Starting again does not help.",
  internalError:
    "A part without which the process is of no use has broken, which is a fault of this program, or the end in order took too long. Started again, it begins with all parts.",
});

/** `code` of errors of this program. errors-page.test.ts compares them with the sources. */
export const OWN_CODES: Readonly<Record<string, string>> = {
  USAGE: "Only an operator can put it right, and before anything runs. One line, and the process ends.",
  KUBE_ACCESS:
    "The kubeconfig, or the service account, cannot be used. At the start the process ends; later it is read again.",
  LEADERSHIP_LOST: "The Lease could not be renewed in time: another process may lead. This one ends.",
  PEM_FILE:
    "A certificate, key or authority in a file cannot be used. At the start a server without one ends the process; files that were good before stay in force until these are put right.",
  TRACE_EXPORT: "Traces cannot be exported with what the variables `OTEL_EXPORTER_OTLP_*` say. The process ends.",
  DEADLINE_EXCEEDED: "No response in time. Retried.",
  DECODE: "An answer has another shape than it must have: of another version, or not from whom it should be.",
  TERMINAL: "Will not succeed until something changes: not tried again.",
  RETRY_AFTER: "Failed, and tried again after a set wait. Its cause says why.",
  NODE_NOT_INITIALIZED: "A Node keeps its taint; the message says why ([nodes](../explanation/nodes.md)).",
  ROUTE_SYNC: "Routes to a Node could not be made or removed.",
  POD_RANGE_UNAVAILABLE: "The cloud has no pod ranges for a Node ([node IPAM](../explanation/node-ipam.md)).",
  LOAD_BALANCER_SYNC:
    "A load balancer is not as its Service wishes ([load balancers](../explanation/load-balancers.md)).",
  SUPERSEDED: "The Service changed while a change was queued; the controller plans again. Not a failure.",
  VOLUME_NOT_KNOWN:
    "A volume could not be looked up; tried again ([labels](../explanation/persistent-volume-labels.md)).",
  SELECTOR: "A label selector cannot be read: part of a USAGE problem.",
  PLANNED_ONLY:
    "A write was planned and not made: its controller or provider is observed ([observe mode](../explanation/observe-mode.md)). Not a failure.",
  UNACCOUNTED_WRITE:
    "A write was refused where something is observed, for it belongs to no reconcile: a fault of this program.",
  DER: "A CertificateSigningRequest cannot be read: it is not approved ([bootstrap](../explanation/bootstrap.md)).",
};

/** `code` of calls to the API server that failed. */
export const API_CODES: ClosedSet = closed<ApiErrorCode>({
  conflict: "409: the object has changed meanwhile. It is read and judged anew.",
  alreadyExists: "409: an object of that name exists.",
  notFound: "404: mostly that the object went meanwhile.",
  gone: "410: what was to be watched on is too old. The list starts anew.",
  invalid: "Any other 4xx: the server refuses the object. Not tried again as it is.",
  forbidden: "403: the ClusterRole lacks a right; the message names verb and resource. Tried again with back-off.",
  unauthorized: "401: token or certificate are not, or no longer, good. They are read again before the next try.",
  tooManyRequests: "429: priority and fairness hold it back. Tried again when the server says.",
  unsupportedMedia: "406, 415: the server does not speak the encoding; the next try is in JSON.",
  transient: "5xx, no answer, a broken one. Tried again with back-off.",
  aborted: "Given up by this program: it ends, or leads no longer.",
});

/** Reasons of domain `cloudwire.dev`: errors of this program in the shape of a provider's. */
export const OWN_REASONS: Readonly<Record<string, string>> = {
  CLASS_CONTESTED: "Several providers serve the Service's class. Class O; none of them gets it until only one does.",
  CLAIM_OPEN: "A Node may be of one more provider that cannot tell now. Class U; nobody gets it yet.",
  AMBIGUOUS_NAME: "The same, and the Node has waited for a while.",
};
