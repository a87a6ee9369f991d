import { type CertificateSigningRequest, csrReference } from "../../api/certificate-signing-request.ts";
import { type EventInput, KUBELET_SERVING_CSR_NOT_APPROVED } from "../../api/event.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { Objection } from "./plan/claim.ts";

export function requestNotApproved(csr: CertificateSigningRequest, { message }: Objection): EventInput {
  return {
    regarding: csrReference(csr),
    type: "Warning",
    reason: KUBELET_SERVING_CSR_NOT_APPROVED,
    message: `Request is not approved: ${message}`,
  };
}

/** Without the request's name: a kubelet retries with new requests, and its Node keeps one event. */
export function nodeWithoutCertificate(node: Node, { message }: Objection): EventInput {
  return {
    regarding: nodeReference(node),
    type: "Warning",
    reason: KUBELET_SERVING_CSR_NOT_APPROVED,
    message: `The kubelet's request for a serving certificate is not approved: ${message}`,
  };
}
