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
 * A kubelet waits 15 min for its certificate and then asks anew with another key (client-go's certificate_manager.go v0.36.3): an hour
 * later nobody wants the old one. kube-controller-manager removes it after 24.
 */
const MAX_AGE_MS = 3_600_000;

/** For the signer that this controller is about, and nobody has said anything yet. */
export function isPending({ metadata, spec, status }: CertificateSigningRequest): boolean {
  return (
    spec.signerName === KUBELET_SERVING_SIGNER &&
    !status.isIssued &&
    metadata.deletionTimestampMs === undefined &&
    !status.conditions.some(({ type }) => DECISIONS.has(type))
  );
}

/** Nobody waits for it any more. */
export function isOld({ metadata }: CertificateSigningRequest, nowMs: number): boolean {
  return nowMs - metadata.creationTimestampMs > MAX_AGE_MS;
}

/** Its spec never changes: only that somebody decides is news. */
export function decides(old: CertificateSigningRequest, csr: CertificateSigningRequest): boolean {
  return isPending(old) !== isPending(csr);
}

/** The Node has another machine, or its addresses have just followed the cloud's. */
export function changesInstance(old: Node, node: Node): boolean {
  return (
    old.metadata.uid !== node.metadata.uid ||
    old.spec.providerID !== node.spec.providerID ||
    !deepEqual(old.status.addresses, node.status.addresses)
  );
}
