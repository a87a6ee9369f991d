import {
  APPROVED,
  type CertificateSigningRequest,
  DENIED,
  FAILED,
  KUBELET_SERVING_SIGNER,
} from "../../api/certificate-signing-request.ts";
import type { Node } from "../../api/node.ts";
import { deepEqual } from "../../util/equal.ts";

const DECISIONS: ReadonlySet<string> = new Set([APPROVED, DENIED, FAILED]);

/**
 * A kubelet waits 15 min for its certificate and then creates another request (client-go's certificate_manager.go v0.36.3): after an hour the
 * old one is unused. kube-controller-manager deletes it after 24.
 */
const MAX_AGE_MS = 3_600_000;

/** For our signer, without a decision. */
export function isPending({ metadata, spec, status }: CertificateSigningRequest): boolean {
  return (
    spec.signerName === KUBELET_SERVING_SIGNER &&
    !status.isIssued &&
    metadata.deletionTimestampMs === undefined &&
    !status.conditions.some(({ type }) => DECISIONS.has(type))
  );
}

export function isOld({ metadata }: CertificateSigningRequest, nowMs: number): boolean {
  return nowMs - metadata.creationTimestampMs > MAX_AGE_MS;
}

/** The spec of a request cannot change, only its decision. */
export function decides(old: CertificateSigningRequest, csr: CertificateSigningRequest): boolean {
  return isPending(old) !== isPending(csr);
}

/** The Node has another instance, or its addresses were updated. */
export function changesInstance(old: Node, node: Node): boolean {
  return (
    old.metadata.uid !== node.metadata.uid ||
    old.spec.providerID !== node.spec.providerID ||
    !deepEqual(old.status.addresses, node.status.addresses)
  );
}
